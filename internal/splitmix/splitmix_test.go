package splitmix

import "testing"

// The first outputs of the generator from the seed 1234567, by which implementations are compared.
func TestReference(t *testing.T) {
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := Mix(state); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
		state += 0x9e3779b97f4a7c15
	}
	if Finish(0) != 0 {
		t.Error("0 becomes something else")
	}
}
