package load

import (
	"testing"
	"time"
)

func TestClientsGiveWayBeforeTheRuntimeMakesThem(t *testing.T) {
	const ms = time.Millisecond
	var y yielder
	for _, c := range []struct {
		now  time.Duration
		want bool
	}{{3000 * ms, true}, {3001 * ms, false}, {3007 * ms, false}, {3008 * ms, true}, {3015 * ms, false}, {3100 * ms, true}} {
		if got := y.yield(c.now); got != c.want {
			t.Errorf("at %v: %v, want %v", c.now, got, c.want)
		}
	}
	if yieldEvery >= 10*ms {
		t.Errorf("every %v: the runtime takes the processor after 10 ms", yieldEvery)
	}
}
