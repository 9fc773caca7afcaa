package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"frontier/bench/truth"
)

// truthProgress tells how far a search has come: in one line that changes on a terminal, in a line now and then
// elsewhere.
type truthProgress struct {
	w        io.Writer
	terminal bool
	rowBytes int
	last     truth.Progress
	told     time.Duration // Elapsed of the last line
	width    int           // of the line on the terminal
	said     bool          // that something was taken up
}

func newTruthProgress(f *os.File, rowBytes int) *truthProgress {
	info, err := f.Stat()
	return &truthProgress{w: f, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0, rowBytes: rowBytes}
}

func (t *truthProgress) show(p truth.Progress) {
	if p.Resumed > 0 && !t.said {
		t.said = true
		fmt.Fprintf(t.w, "truth: going on after %d of %d rows\n", p.Resumed, p.Total)
	}
	pause := linePause
	if t.terminal {
		pause /= 20
	}
	if t.last.Auditing != p.Auditing {
		t.told = 0
	}
	t.last = p
	if p.Elapsed-t.told < pause || !p.Auditing && p.Rows == p.Total {
		return // end tells of the last step
	}
	t.told = p.Elapsed
	line := t.line(p)
	if !t.terminal {
		fmt.Fprintln(t.w, line)
		return
	}
	fmt.Fprint(t.w, "\r"+line+strings.Repeat(" ", max(t.width-len(line), 0)))
	t.width = len(line)
}

// line is the state of the search: its share, rates and what is left.
func (t *truthProgress) line(p truth.Progress) string {
	here := float64(p.Rows - p.Resumed)
	seconds := p.Elapsed.Seconds()
	what, rate := "truth", fmt.Sprintf("%.1f GFLOP/s, ", p.Operations/seconds/1e9)
	if p.Auditing {
		what, rate = "audit", ""
	}
	text := fmt.Sprintf("%s: %.1f%% of %d rows, %s%.2f GB/s", what, 100*float64(p.Rows)/float64(p.Total), p.Total, rate, here*float64(t.rowBytes)/seconds/1e9)
	if waiting := p.Waiting.Seconds() / seconds; waiting > 0.2 {
		text += fmt.Sprintf(", %.0f%% of the time waiting for the disk", 100*waiting)
	}
	if p.Rows == p.Total {
		return text + fmt.Sprintf(", %.3f s", seconds)
	}
	left := time.Duration(seconds / here * float64(p.Total-p.Rows) * float64(time.Second))
	return text + fmt.Sprintf(", %v left", left.Round(time.Second))
}

// end closes the line and sums up, if there was anything.
func (t *truthProgress) end() {
	if t.terminal && t.width > 0 {
		fmt.Fprint(t.w, "\r"+strings.Repeat(" ", t.width)+"\r")
	}
	if t.last.Operations > 0 {
		fmt.Fprintln(t.w, t.line(t.last))
	}
}
