package indexes

import "runtime/debug"

// ModuleVersion is the version of a Go module as this binary was linked; binaries of go test do not know it.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == path {
				return dep.Version
			}
		}
	}
	return "unknown"
}
