package bounded

import "testing"

// A piece that claims gigabytes is refused before they are allocated.
func TestAllocator(t *testing.T) {
	a := Allocator(100)
	if got := len(a.Reallocate(100, a.Allocate(50))); got != 100 {
		t.Errorf("%d bytes, want 100", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("101 bytes were allocated with a limit of 100")
		}
	}()
	a.Allocate(101)
}
