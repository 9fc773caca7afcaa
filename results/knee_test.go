package results

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func kneeRows(points ...[2]float64) []Row {
	var rows []Row
	for i, p := range points {
		rows = append(rows, Row{"point_id": fmt.Sprint("p", i), "status": "ok", "recall_at_10": p[0], "latency_p99_seconds": p[1]})
	}
	return rows
}

func TestKnee(t *testing.T) {
	objs := paretoObjectives()[:2]
	// In ms 1, 10, 100 and 1000 are 0, 1/3, 2/3 and 1; recall 0.5, 0.9, 0.95, 1.0 is 1, 0.2, 0.1 and 0.
	rows := kneeRows([2]float64{0.95, 0.1}, [2]float64{0.5, 0.001}, [2]float64{0.9, 0.01}, [2]float64{1, 1}, [2]float64{0.2, 5})
	if got, err := Knee(rows, objs); err != nil || got != 2 {
		t.Errorf("knee at row %d, %v; want 2", got, err)
	}
	if got, err := Knee(rows, []Objective{objs[1], objs[0]}); err != nil || got != 2 {
		t.Errorf("with the objectives in the other order: row %d, %v; want 2", got, err)
	}
	for want, rows := range map[string][]Row{
		"1 different point":  kneeRows([2]float64{0.9, 0.01}, [2]float64{0.9, 0.01}, [2]float64{0.9, 0.01}),
		"2 different points": kneeRows([2]float64{0.9, 0.01}, [2]float64{0.95, 0.1}, [2]float64{0.95, 0.1}),
		"0 different points": nil,
		"better side":        kneeRows([2]float64{0.5, 0.001}, [2]float64{0.55, 0.1}, [2]float64{1, 1}),
	} {
		if got, err := Knee(rows, objs); !errors.Is(err, ErrNoKnee) || !strings.Contains(err.Error(), want) {
			t.Errorf("row %d, %v; want ErrNoKnee with %q", got, err, want)
		}
	}
	if _, err := Knee(rows, paretoObjectives()[:3]); err == nil || !strings.Contains(err.Error(), "takes two objectives, not 3") {
		t.Errorf("three objectives: %v", err)
	}
}
