package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"frontier/chunkers"
	"frontier/datasets"
	"frontier/internal/param"

	"github.com/spf13/cobra"
)

func newChunk() *cobra.Command {
	var kind, overlap, unit string
	var size int
	cmd := &cobra.Command{
		Use:     "chunk FILE...",
		Short:   "Cut texts into chunks with their spans, as JSON Lines",
		Example: "  frontier chunk README.md --chunker recursive --size 400 --overlap 40 --unit tokens",
		Args:    atLeastOne("a text file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := param.Values{}
			for name, v := range map[string]any{"size": size, "overlap": overlap, "unit": unit} {
				if cmd.Flags().Changed(name) {
					given[name] = v
				}
			}
			chunker, err := newNamedChunker(kind, given)
			if err != nil {
				return usage(err)
			}
			enc := json.NewEncoder(cmd.OutOrStdout())
			enc.SetEscapeHTML(false)
			for _, path := range args {
				if err := chunkFile(enc, cmd.InOrStdin(), path, chunker); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&kind, "chunker", "recursive", "see `frontier chunkers`")
	cmd.Flags().IntVar(&size, "size", 0, "size of a chunk, in units")
	cmd.Flags().StringVar(&overlap, "overlap", "", "what neighbouring chunks share, in units or percent of the size")
	cmd.Flags().StringVar(&unit, "unit", "", "chars, words or tokens")
	return cmd
}

func newNamedChunker(name string, given param.Values) (chunkers.Chunker, error) {
	var names []string
	for _, k := range chunkers.Kinds() {
		names = append(names, k.Name)
		if k.Name != name {
			continue
		}
		full, err := param.Complete(k.Params, given)
		if err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		return k.New(full)
	}
	return nil, fmt.Errorf("--chunker: no chunker is called %q; there are %s", name, strings.Join(names, ", "))
}

// chunkLine is one chunk as it is printed. Offsets count code points.
type chunkLine struct {
	File  string `json:"file"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

func chunkFile(enc *json.Encoder, stdin io.Reader, path string, chunker chunkers.Chunker) error {
	raw, err := readInput(stdin, path)
	if err != nil {
		return usage(err)
	}
	text, err := datasets.DecodeText(path, raw)
	if err != nil {
		return err
	}
	chunks, err := chunker.Chunk(text, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, c := range chunks {
		if err := enc.Encode(chunkLine{path, c.Start, c.End, c.Text}); err != nil {
			return err
		}
	}
	return nil
}

func readInput(stdin io.Reader, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}
