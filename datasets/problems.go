package datasets

import (
	"errors"
	"fmt"
)

// maxProblems is how many faults one reading reports: enough to mend a file in one go, few enough to be read.
const maxProblems = 20

// problems collects faults.
type problems struct {
	errs []error
	more int
}

func (p *problems) add(err error) {
	if len(p.errs) < maxProblems {
		p.errs = append(p.errs, err)
	} else {
		p.more++
	}
}

// err is all faults joined, or nil.
func (p *problems) err() error {
	if p.more == 0 {
		return errors.Join(p.errs...)
	}
	return errors.Join(append(p.errs[:len(p.errs):len(p.errs)], fmt.Errorf("and %d more like these", p.more))...)
}
