package cost

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExample(t *testing.T) {
	c, err := ParseCatalog("example.yaml", exampleYAML)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	got := Example()
	if len(got.Machines) != 8 || got.Date == "" || !strings.Contains(got.Source, "example") || len(got.Embedding) != 2 || got.StorageUSDPerGiBMonth != 0.10 {
		t.Errorf("%+v", got)
	}
	if m := got.Machines[1]; m != (Machine{Name: "general-4", VCPU: 4, Memory: 16 * gib, USDPerHour: 0.20}) {
		t.Errorf("%+v", m)
	}
}

// The catalogue that users are told to copy must be readable.
func TestExamplesOfTheRepository(t *testing.T) {
	path := filepath.Join("..", "..", "examples", "prices.yaml")
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	c, err := ReadCatalog(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Machines) == 0 || c.Validate() != nil {
		t.Errorf("%+v", c)
	}
}

const minimal = `date: 2026-11-01
currency: USD
source: a test
machines:
  - {name: small, vcpu: 2, memory: 8GiB, usd_per_hour: 1}
`

func TestCatalogWithoutOptionalParts(t *testing.T) {
	c, err := ParseCatalog("min.yaml", []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(c.StorageUSDPerGiBMonth) || c.Embedding != nil || c.Date != "2026-11-01" || len(c.Machines) != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := ParseCatalog("min.yaml", []byte(minimal+"embedding: []\n")); err != nil {
		t.Error(err)
	}
}

func TestCatalogFaults(t *testing.T) {
	swap := func(old, now string) string { return strings.Replace(minimal, old, now, 1) }
	for _, c := range []struct{ text, want string }{
		{swap("machines", "machnes"), `min.yaml:4:1: unknown key "machnes" (did you mean "machines"?)`},
		{swap("machines", "machnes"), `a catalogue needs the key "machines"`},
		{swap("2026-11-01", "last week"), "min.yaml:1:7: date must be a day such as"},
		{swap("USD", "EUR"), `min.yaml:2:11: currency must be USD, not "EUR"`},
		{swap("a test", ""), "min.yaml:3:"},
		{swap("vcpu: 2", "vcpu: 2.5"), "min.yaml:5:25: vcpu must be a whole number"},
		{swap("vcpu: 2", "vcpu: 0"), "vcpu must be a whole number from 1 to 1048576, not 0"},
		{swap("vcpu: 2", "vcpu: 2000000"), "from 1 to 1048576, not 2e+06"},
		{swap("vcpu: 2", "vcpu: two"), "vcpu must be a number"},
		{swap("8GiB", "8"), "min.yaml:5:36: memory must be text with a unit, such as 16GiB"},
		{swap("8GiB", "8 gigs"), `unknown unit "gigs"`},
		{swap("8GiB", "'8'"), "not a size with a unit"},
		{swap("8GiB", "0GiB"), `"0GiB" is no memory`},
		{swap("8GiB", "9999999999GiB"), "more than 8192 TiB"},
		{swap("8GiB", "1.2.3GiB"), "not a size with a unit"},
		{swap("usd_per_hour: 1", "usd_per_hour: -1"), "min.yaml:5:56: usd_per_hour must be a price of at least 0, not -1"},
		{swap("usd_per_hour: 1", "usd_per_hour: .nan"), "usd_per_hour must be a number"},
		{swap(", usd_per_hour: 1", ""), `a machine needs the key "usd_per_hour"`},
		{minimal + "  - {name: small, vcpu: 2, memory: 8GiB, usd_per_hour: 1}\n", `min.yaml:6:12: name "small" stands twice`},
		{minimal + "storage_usd_per_gib_month: free\n", "min.yaml:6:28: storage_usd_per_gib_month must be a number"},
		{minimal + "embedding: [{model: a}]\n", `an embedding needs the key "usd_per_million_tokens"`},
		{minimal + "embedding: 5\n", "min.yaml:6:12: embedding must be a list"},
		{minimal[:strings.Index(minimal, "  -")], "machines must be a list"},
		{strings.Split(minimal, "machines")[0] + "machines: []\n", "machines is empty"},
		{minimal + "date: 2026-11-02\n", "min.yaml:6:1:"},
		{minimal + "---\n" + minimal, "a second document"},
		{"", "min.yaml"},
		{"# nothing\n", "min.yaml"},
		{"- a\n", "min.yaml:1:1: a catalogue must have the keys"},
		{"date: [\n", "min.yaml:1:"},
		{strings.Repeat(" ", maxCatalog+1), "too much"},
		{minimal + strings.Repeat("[", 50_000), "min.yaml:6:1: lists or mappings are nested more than 100 deep"},
		{strings.Repeat("- ", 50_000), "min.yaml:1:1: lists or mappings"},
	} {
		_, err := ParseCatalog("min.yaml", []byte(c.text))
		var fault *Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.300s\n%v, want %q", c.text, err, c.want)
		}
	}
}

func TestCatalogReportsAllFaults(t *testing.T) {
	_, err := ParseCatalog("x.yaml", []byte("date: 1\ncurrency: EUR\nsource: s\nmachines: [{name: a, vcpu: -1, memory: 1, usd_per_hour: x}]\n"))
	if err == nil || strings.Count(err.Error(), "x.yaml:") != 5 {
		t.Errorf("five faults are reported as: %v", err)
	}
}

func TestReadCatalog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if _, err := ReadCatalog(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	if err := os.WriteFile(path, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := ReadCatalog(path); err != nil || c.File != path {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestValidate(t *testing.T) {
	good := Machine{Name: "a", VCPU: 1, Memory: 1, USDPerHour: 0}
	for name, change := range map[string]func(*Machine){
		"no name":     func(m *Machine) { m.Name = "" },
		"0 vcpu":      func(m *Machine) { m.VCPU = 0 },
		"0 bytes":     func(m *Machine) { m.Memory = 0 },
		"NaN USD":     func(m *Machine) { m.USDPerHour = math.NaN() },
		"+Inf USD":    func(m *Machine) { m.USDPerHour = math.Inf(1) },
		"-1 USD an h": func(m *Machine) { m.USDPerHour = -1 },
	} {
		m := good
		change(&m)
		if err := (&Catalog{Machines: []Machine{m}}).Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if (&Catalog{}).Validate() == nil || (&Catalog{Machines: []Machine{good}}).Validate() != nil {
		t.Error("an empty catalogue is valid, or a good one is not")
	}
}

func FuzzParseCatalog(f *testing.F) {
	f.Add(exampleYAML)
	f.Add([]byte(minimal))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCatalog("fuzz.yaml", text)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("was read, but is not valid: %v", err)
		}
	})
}
