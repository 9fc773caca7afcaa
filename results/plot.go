package results

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrNothingToPlot says that no row has a value for both axes.
var ErrNothingToPlot = errors.New("no measured point has values for both axes")

const (
	plotWidth   = 9 * vg.Inch
	plotHeight  = 5.2 * vg.Inch
	legendWidth = 1.5 * vg.Inch
	plotDPI     = 160
)

// Plot draws rows as a picture in format png or svg: the first objective upwards, the second to the right (on a log
// scale where the values span more than half a decade), one colour and shape an engine. Points on the frontier of all
// objectives carry their 95% interval and are solid if their place is certain, hollow if it is not (see Places);
// dominated ones are pale, and the line steps along the frontier of the two axes. A single objective is plotted against latency_p99_seconds. Rows whose status is not ok and nulls are
// left out; with none left the error is ErrNothingToPlot.
func Plot(w io.Writer, rows []Row, objs []Objective, format string) error {
	p, legend, err := picture(rows, objs)
	if err != nil {
		return fmt.Errorf("plotting: %w", err)
	}
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch format {
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWidth, plotHeight), vgimg.UseDPI(plotDPI))}
	case "svg":
		canvas = vgsvg.New(plotWidth, plotHeight)
	default:
		return fmt.Errorf("unknown picture format %q; the formats are png and svg", format)
	}
	c := draw.New(canvas)
	edge := vg.Points(8)
	p.Draw(draw.Crop(c, edge, -legendWidth, edge, -edge))
	legend.Draw(draw.Crop(c, plotWidth-legendWidth+edge, 0, 0, -edge))
	if _, err := canvas.WriteTo(w); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

// axes are the objectives of the picture: y, then x.
func axes(objs []Objective) (y, x Objective, err error) {
	if err := checkObjectives(objs); err != nil {
		return y, x, err
	}
	if len(objs) > 1 {
		return objs[0], objs[1], nil
	}
	x = Objective{"latency_p99_seconds", Lower}
	if objs[0].Column == x.Column {
		return y, x, errors.New("one objective is no picture; give a second one, such as recall_at_10:max")
	}
	return objs[0], x, nil
}

// mark is a point of the picture in shown units.
type mark struct {
	x, y, low, high float64
	solid           bool // on the frontier
	certain         bool
	group           string
}

func picture(rows []Row, objs []Objective) (*plot.Plot, *plot.Legend, error) {
	yObj, xObj, err := axes(objs)
	if err != nil {
		return nil, nil, err
	}
	on, _, err := Frontier(rows, objs)
	if err != nil {
		return nil, nil, err
	}
	places, err := Places(rows, objs, Certainty{})
	if err != nil {
		return nil, nil, err
	}
	line, _, err := Frontier(rows, []Objective{yObj, xObj})
	if err != nil {
		return nil, nil, err
	}
	xScale, yScale := axisScale(rows, xObj), axisScale(rows, yObj)
	var marks []mark
	var steps plotter.XYs
	for i, r := range rows {
		x, okX := r.Number(xObj.Column)
		y, okY := r.Number(yObj.Column)
		if !okX || !okY || r.Text("status") != "ok" {
			continue
		}
		low, high := span(r, yObj.Column)
		marks = append(marks, mark{x * xScale.factor, y * yScale.factor, low * yScale.factor, high * yScale.factor, on[i], places.Places[i] == Certain, r.Text("engine")})
		if line[i] {
			steps = append(steps, plotter.XY{X: x * xScale.factor, Y: y * yScale.factor})
		}
	}
	if len(marks) == 0 {
		return nil, nil, ErrNothingToPlot
	}
	p := emptyPlot(axisTitle(xObj, xScale), axisTitle(yObj, yScale))
	setAxis(&p.X, valuesOf(marks, func(m mark) []float64 { return []float64{m.x} }), true)
	setAxis(&p.Y, valuesOf(marks, func(m mark) []float64 { return []float64{m.y, m.low, m.high} }), false)
	legend := plot.NewLegend()
	legend.TextStyle.Font = sans(10)
	legend.Top, legend.Left = true, true
	legend.Padding = vg.Points(3)
	if err := drawSteps(p, &legend, steps, xObj.Direction); err != nil {
		return nil, nil, err
	}
	if err := drawMarks(p, &legend, marks); err != nil {
		return nil, nil, err
	}
	return p, &legend, nil
}

func valuesOf(marks []mark, get func(mark) []float64) []float64 {
	var out []float64
	for _, m := range marks {
		out = append(out, get(m)...)
	}
	return out
}

func emptyPlot(xTitle, yTitle string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(11)
		a.Label.Padding = vg.Points(6)
		a.Tick.Label.Font = sans(9.5)
		a.LineStyle.Color = gray(120)
		a.Tick.LineStyle.Color = gray(120)
	}
	p.X.Label.Text, p.Y.Label.Text = xTitle, yTitle
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gray(228), gray(228)
	p.Add(grid)
	return p
}

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

func gray(level uint8) color.Color { return color.NRGBA{level, level, level, 255} }

// drawSteps draws the frontier as what is to be had at each x: less latency allowed, less quality.
func drawSteps(p *plot.Plot, legend *plot.Legend, steps plotter.XYs, betterX Direction) error {
	slices.SortFunc(steps, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	l, err := plotter.NewLine(steps)
	if err != nil {
		return err
	}
	l.StepStyle = plotter.PostStep
	if betterX == Higher {
		l.StepStyle = plotter.PreStep
	}
	l.LineStyle = draw.LineStyle{Color: gray(90), Width: vg.Points(1.2)}
	p.Add(l)
	legend.Add("frontier", l)
	return nil
}

func drawMarks(p *plot.Plot, legend *plot.Legend, marks []mark) error {
	groups := map[string][]mark{}
	for _, m := range marks {
		groups[m.group] = append(groups[m.group], m)
	}
	var solids []func() // on top of the pale ones of all engines
	for i, name := range sortedKeys(groups) {
		c, shape := palette()[i%len(palette())], shapes()[i%len(shapes())]
		pale := paler(c)
		var solid, unsure, dull plotter.XYs
		bars := errorBars{}
		for _, m := range groups[name] {
			if !m.solid {
				dull = append(dull, plotter.XY{X: m.x, Y: m.y})
				continue
			}
			if m.certain {
				solid = append(solid, plotter.XY{X: m.x, Y: m.y})
			} else {
				unsure = append(unsure, plotter.XY{X: m.x, Y: m.y})
			}
			if m.low < m.high {
				bars.XYs = append(bars.XYs, plotter.XY{X: m.x, Y: m.y})
				bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{m.low - m.y, m.high - m.y})
			}
		}
		style := draw.GlyphStyle{Color: c, Radius: vg.Points(4), Shape: shape}
		if len(dull) > 0 {
			s, err := plotter.NewScatter(dull)
			if err != nil {
				return err
			}
			s.GlyphStyle = draw.GlyphStyle{Color: pale, Radius: vg.Points(3), Shape: shape}
			p.Add(s)
		}
		if len(bars.XYs) > 0 {
			b, err := plotter.NewYErrorBars(bars)
			if err != nil {
				return err
			}
			b.LineStyle = draw.LineStyle{Color: pale, Width: vg.Points(1)}
			b.CapWidth = vg.Points(4)
			solids = append(solids, func() { p.Add(b) })
		}
		for _, kind := range []struct {
			points plotter.XYs
			shape  draw.GlyphDrawer
		}{{solid, shape}, {unsure, hollow{shape}}} {
			if len(kind.points) == 0 {
				continue
			}
			s, err := plotter.NewScatter(kind.points)
			if err != nil {
				return err
			}
			s.GlyphStyle = style
			s.Shape = kind.shape
			solids = append(solids, func() { p.Add(s) })
		}
		legend.Add(legendName(name), &plotter.Scatter{GlyphStyle: style})
	}
	for _, add := range solids {
		add()
	}
	legend.Add("possible", &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: color.NRGBA{60, 60, 60, 255}, Radius: vg.Points(4), Shape: hollow{draw.CircleGlyph{}}}})
	legend.Add("dominated", &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: paler(color.NRGBA{60, 60, 60, 255}), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}})
	return nil
}

func legendName(engine string) string {
	if engine == "" {
		return "(no engine)"
	}
	return engine
}

type errorBars struct {
	plotter.XYs
	plotter.YErrors
}
