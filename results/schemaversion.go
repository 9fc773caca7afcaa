package results

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// The version of the columns stands in the metadata of every file, as "1.137". The first number grows when a column is
// taken away or changes its type or meaning; such files need the frontier that knows them. The second is how many columns
// there are, so that nobody can forget to raise it: files with fewer columns are read with nulls, files with more without
// what is unknown.
const (
	schemaKey   = "frontier.schema"
	schemaMajor = 1
)

// SchemaVersion is the version of the files that WriteRows and WriteQueries write.
func SchemaVersion() string { return fmt.Sprintf("%d.%d", schemaMajor, len(Columns())) }

// checkSchema refuses a file whose columns mean something else than ours. A file without a version was rewritten by
// another tool, or is of another kind, which its columns tell.
func checkSchema(meta metadata.KeyValueMetadata) error {
	value := meta.FindValue(schemaKey)
	if value == nil {
		return nil
	}
	return checkVersion(*value)
}

// checkVersion takes "1.137", and "1" of the first files.
func checkVersion(version string) error {
	first, second, minor := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	if err == nil && minor {
		_, err = strconv.Atoi(second)
	}
	switch {
	case err != nil || major < 1:
		return fmt.Errorf("the file is damaged: its metadata has %q for %s, which is not the version of a schema", version, schemaKey)
	case major > schemaMajor:
		return fmt.Errorf("the file is of schema %s, this frontier reads %d (up to %s): columns have changed their meaning; read it with the frontier that wrote it, or with a newer one", version, schemaMajor, SchemaVersion())
	}
	return nil
}
