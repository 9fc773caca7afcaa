package sweep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"frontier/results"
)

// supersedingFile names the folder that earlier results are being moved to. While it is there, a move has not ended.
const supersedingFile = "superseding"

// supersede moves the measurements of the run that was here out of the way; they were paid for. The move is written
// down first, so that one that is killed is finished by the next run, whatever that is asked for.
func (s *store) supersede(run string) error {
	if run == "" {
		run = "unnamed"
	}
	to := filepath.Join(s.dir, "superseded", run)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Mkdir(to, 0o755)
	if errors.Is(err, os.ErrExist) {
		to, err = os.MkdirTemp(filepath.Dir(to), run+"-")
	}
	if err != nil {
		return err
	}
	err = replaceFile(filepath.Join(s.dir, supersedingFile), func(w io.Writer) error {
		_, err := io.WriteString(w, filepath.Base(to)+"\n")
		return err
	})
	if err != nil {
		return err
	}
	return s.finishSupersede()
}

// finishSupersede moves what is left to move. run_id goes last but one: as long as it is there, the results are not all
// out of the way.
func (s *store) finishSupersede() error {
	marker := filepath.Join(s.dir, supersedingFile)
	raw, err := os.ReadFile(marker)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	to := filepath.Join(s.dir, "superseded", filepath.Base(strings.TrimSpace(string(raw))))
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range []string{partsDir, queriesDir, "results.parquet", results.ManifestFile, "report.html", "pareto.png", runFile} {
		err := os.Rename(filepath.Join(s.dir, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("move earlier results away: %w", err)
		}
	}
	return os.Remove(marker)
}
