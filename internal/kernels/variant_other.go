//go:build !amd64 && !arm64

package kernels

// available is the variants that this machine has, slowest first.
func available() []variant { return []variant{portable()} }
