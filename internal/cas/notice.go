package cas

import (
	"fmt"
	"os"
	"strings"
)

// NoticeKind is what a Notice is about.
type NoticeKind int

const (
	// Waiting: another process, or another part of this one, makes the artifact, and takes a while.
	Waiting NoticeKind = iota
	// Damaged: an artifact was not what had been written. It was moved aside and is being made again.
	Damaged
)

// Fault is what is wrong with a file of an artifact.
type Fault struct {
	File    string `json:"file"` // path within the artifact's folder
	Problem string `json:"problem"`
}

func (f Fault) String() string { return f.File + " " + f.Problem }

// maxTold bounds how many faults a message lists.
const maxTold = 3

func tell(faults []Fault) string {
	var told []string
	for _, f := range faults[:min(len(faults), maxTold)] {
		told = append(told, f.String())
	}
	if more := len(faults) - maxTold; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(told, "; ")
}

// Notice is something that whoever uses the cache ought to know. It is not an error.
type Notice struct {
	Kind    NoticeKind
	Stage   Stage
	Key     Key
	Holder  int     // Waiting: the process that is waited for; 0 if unknown
	Faults  []Fault // Damaged: what was wrong
	MovedTo string  // Damaged: where it lies now
}

// String is the notice as a sentence.
func (n Notice) String() string {
	what := n.Stage.Describe()
	switch {
	case n.Kind == Damaged:
		return fmt.Sprintf("the cached artifact %s (%s) is damaged and is made again: %s; it was moved to %s, and `frontier cache gc` deletes it",
			n.Key, what, tell(n.Faults), n.MovedTo)
	case n.Holder == os.Getpid():
		return fmt.Sprintf("waiting for another part of this sweep to finish %s", what)
	case n.Holder > 0:
		return fmt.Sprintf("waiting for another frontier (process %d) to finish %s", n.Holder, what)
	default:
		return fmt.Sprintf("waiting for another frontier to finish %s", what)
	}
}
