// Package cost turns measured throughput and memory into machines and dollars a month, from a catalogue of prices that
// the user keeps. Every estimate lists what it assumed.
package cost

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
)

// Catalog is a list of prices in US dollars.
type Catalog struct {
	File     string // where it was read from, for messages and reports
	Date     string // day that the prices held, as 2026-11-01
	Source   string // where the prices are from
	Machines []Machine
	// StorageUSDPerGiBMonth is the price of disk; NaN if the catalogue does not give it.
	StorageUSDPerGiBMonth float64
	Embedding             []Embedding
}

// Machine is a type of machine that can be rented.
type Machine struct {
	Name       string
	VCPU       int
	Memory     int64 // bytes
	USDPerHour float64
}

// Embedding is the price of one model of an embedding service.
type Embedding struct {
	Model               string
	USDPerMillionTokens float64
}

//go:embed example.yaml
var exampleYAML []byte

// Example is a small dated catalogue of example prices, of no vendor. Its source says so.
func Example() *Catalog {
	c, err := ParseCatalog("built-in example prices", exampleYAML)
	if err != nil {
		// Cannot happen: the tests parse it. An empty catalogue makes every estimate an error rather than a wrong figure.
		return &Catalog{File: "built-in example prices", StorageUSDPerGiBMonth: math.NaN()}
	}
	return c
}

// ReadCatalog reads the YAML file at path. Faults of its content are an *Error, or several joined, with line and column.
func ReadCatalog(path string) (*Catalog, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the price catalogue: %w", err)
	}
	return ParseCatalog(path, raw)
}

// Validate checks a catalogue that was not read from a file.
func (c *Catalog) Validate() error {
	if len(c.Machines) == 0 {
		return errors.New("the price catalogue has no machines")
	}
	for _, m := range c.Machines {
		switch {
		case m.Name == "":
			return errors.New("a machine of the price catalogue has no name")
		case m.VCPU < 1:
			return fmt.Errorf("machine %s has %d vcpu", m.Name, m.VCPU)
		case m.Memory < 1:
			return fmt.Errorf("machine %s has %d bytes of memory", m.Name, m.Memory)
		case !(m.USDPerHour >= 0) || math.IsInf(m.USDPerHour, 0):
			return fmt.Errorf("machine %s costs %v USD an hour", m.Name, m.USDPerHour)
		}
	}
	return nil
}

// embeddingPrice is the price of model for a million tokens, and whether there is one.
func (c *Catalog) embeddingPrice(model string) (float64, bool) {
	for _, e := range c.Embedding {
		if e.Model == model {
			return e.USDPerMillionTokens, true
		}
	}
	return 0, false
}

// Error is a fault in the text of a catalogue.
type Error struct {
	File         string
	Line, Column int // from 1; 0 if unknown
	Msg          string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.File + ": " + e.Msg
	default:
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	}
}
