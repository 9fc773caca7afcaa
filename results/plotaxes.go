package results

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
)

func axisScale(rows []Row, o Objective) scaling {
	col, _ := Lookup(o.Column)
	var values []float64
	for _, r := range rows {
		if v, ok := r.Number(o.Column); ok {
			values = append(values, v)
		}
	}
	return scalingOf(col, values)
}

func axisTitle(o Objective, s scaling) string {
	title := heading(o.Column)
	if s.label != "" {
		title += " (" + s.label + ")"
	}
	if o.Direction == Higher {
		return title + ", more is better"
	}
	return title + ", less is better"
}

// setAxis chooses range, scale and ticks. Only an axis of latencies, rates or sizes is worth a log scale.
func setAxis(a *plot.Axis, values []float64, mayLog bool) {
	low, high := slices.Min(values), slices.Max(values)
	if mayLog && low > 0 && high/low > math.Sqrt(10) {
		a.Scale = plot.LogScale{}
		margin := math.Pow(high/low, 0.04)
		a.Min, a.Max = low/margin, high*margin
		a.Tick.Marker = plot.TickerFunc(logTicks)
		a.Label.Text += ", log scale"
		return
	}
	margin := (high - low) * 0.05
	// Values that are a rounding apart are one: no label could tell ticks between them, and no counter count up to them.
	if high-low <= 1e-9*max(math.Abs(low), math.Abs(high)) {
		margin = max(math.Abs(high)*0.05, 1e-9)
	}
	a.Min, a.Max = low-margin, high+margin
	a.Tick.Marker = plot.TickerFunc(linearTicks)
}

// linearTicks labels multiples of 1, 2 or 5 times a power of ten, five to ten of them.
func linearTicks(low, high float64) []plot.Tick {
	rough := (high - low) / 10
	exponent := math.Floor(math.Log10(rough))
	step := math.Pow(10, exponent)
	switch lead := rough / step; {
	case lead > 5:
		step *= 10
		exponent++
	case lead > 2:
		step *= 5
	case lead > 1:
		step *= 2
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: grouped(strconv.FormatFloat(i*step, 'f', max(0, -int(exponent)), 64))})
	}
	return ticks
}

// logTicks labels 1, 2 and 5 of each decade, or 1 alone where there are many.
func logTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	wide := high/low > 2e4
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for d := 1; d <= 9; d++ {
			v := float64(d) * math.Pow(10, e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if d == 1 || (!wide && (d == 2 || d == 5)) {
				t.Label = grouped(strconv.FormatFloat(v, 'f', max(0, -int(e)), 64))
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
