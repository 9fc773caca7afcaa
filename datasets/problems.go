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
	most int // how many are kept; 0 means maxProblems
}

func (p *problems) add(err error) {
	most := p.most
	if most == 0 {
		most = maxProblems
	}
	if len(p.errs) < most {
		p.errs = append(p.errs, err)
	} else {
		p.more++
	}
}

// err is all faults joined, or nil.
func (p *problems) err() error { return errors.Join(p.list()...) }

// list is all faults, the last one saying how many were not kept.
func (p *problems) list() []error {
	if p.more == 0 {
		return p.errs
	}
	return append(p.errs[:len(p.errs):len(p.errs)], fmt.Errorf("and %d more like these", p.more))
}
