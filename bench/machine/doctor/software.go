package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// softwareRules are about what this binary was built with and started with.
func softwareRules() []rule {
	return []rule{
		{"kernels", func(r *Report) *judgement {
			text := fmt.Sprintf("frontier's own kernels are the %s ones; the processor has %s", r.Kernels, r.Machine.InstructionSet)
			if r.Kernels == "portable" && r.Machine.InstructionSet != "portable" {
				return warn(text, "exact search uses no vector instructions here; engines in C++ are compiled for themselves, so do not compare flat with them")
			}
			return ok(text)
		}},
		{"blas", blas},
		{"openblas_coretype", func(r *Report) *judgement {
			kind := r.Environment["OPENBLAS_CORETYPE"]
			if kind == "" {
				return ok("OPENBLAS_CORETYPE is not set")
			}
			text := fmt.Sprintf("OPENBLAS_CORETYPE=%s makes OpenBLAS use the kernels of that processor, whatever this one has (%s)", kind, r.Machine.InstructionSet)
			for _, e := range r.Engines {
				if _, running, has := strings.Cut(e.Details["blas"], " running "); has {
					text += "; what runs is " + running
				}
			}
			return warn(text,
				"unset OPENBLAS_CORETYPE, so that OpenBLAS looks for itself")
		}},
		{"environment", func(r *Report) *judgement {
			var others []string
			for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
				if name != "OPENBLAS_CORETYPE" { // has a finding of its own
					others = append(others, name+"="+r.Environment[name])
				}
			}
			if len(others) == 0 {
				return ok("no other variable that changes speed is set")
			}
			return warn("variables that change speed are set: "+strings.Join(others, " "), "unset them, unless production sets them too")
		}},
	}
}

// blas judges the linear algebra that FAISS uses.
func blas(r *Report) *judgement {
	for _, e := range r.Engines {
		library, has := e.Details["blas"]
		switch {
		case !has:
			continue
		case r.Machine.OS == "darwin":
			return ok("the BLAS of " + e.Name + " is that of the system")
		case !strings.Contains(library, "OpenBLAS") || strings.HasPrefix(library, "not "):
			return bad("the BLAS of "+e.Name+" is not OpenBLAS; with the reference BLAS, flat search and training are ten times slower or more",
				"install libopenblas-openmp-dev (Debian, Ubuntu), and check `update-alternatives --display libblas.so.3-x86_64-linux-gnu`")
		}
		return ok("the BLAS of " + e.Name + " is " + library)
	}
	return nil
}
