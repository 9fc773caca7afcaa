package load

import (
	"context"
	"testing"
	"time"
)

func TestOpenRealClock(t *testing.T) {
	keeper := NewKeeper(10)
	b, err := RunOpen(context.Background(), nothing{}, Open{Rate: 2000, Clients: 2, Order: Order(10, 1), Warmup: time.Millisecond, MinTime: 20 * time.Millisecond, EachOnce: true, Keeper: keeper})
	if err != nil || b.Wall < 20*time.Millisecond || b.Samples < 10 || !b.Covered || keeper.Left() != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	if b.Service.TotalCount()+b.Dropped != b.Samples || b.Histogram.TotalCount() != b.Samples {
		t.Errorf("%+v", b)
	}
}
