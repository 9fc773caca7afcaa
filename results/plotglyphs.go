package results

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette is by Okabe and Ito, made to be told apart with any colour vision; the shapes repeat at another length, so
// that 35 engines differ.
func palette() []color.NRGBA {
	return []color.NRGBA{
		{0, 114, 178, 255},
		{213, 94, 0, 255},
		{0, 158, 115, 255},
		{204, 121, 167, 255},
		{230, 159, 0, 255},
		{86, 180, 233, 255},
		{60, 60, 60, 255},
	}
}

// paler mixes a colour with white. Transparency would add up where points lie on each other, and look solid.
func paler(c color.NRGBA) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8((int(v)*9 + 255*11) / 20) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

func shapes() []draw.GlyphDrawer {
	return []draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.BoxGlyph{},
		polygon{{0, 1.3}, {1.2, -0.8}, {-1.2, -0.8}},
		polygon{{0, 1.3}, {1.3, 0}, {0, -1.3}, {-1.3, 0}},
		polygon{{0, -1.3}, {1.2, 0.8}, {-1.2, 0.8}},
	}
}

// hollow is a glyph with a white middle.
type hollow struct{ draw.GlyphDrawer }

// DrawGlyph implements draw.GlyphDrawer.
func (h hollow) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	h.GlyphDrawer.DrawGlyph(c, style, at)
	style.Color, style.Radius = color.White, style.Radius*0.55
	c.SetColor(style.Color) // the library's glyphs leave that to their caller
	h.GlyphDrawer.DrawGlyph(c, style, at)
}

// polygon is a filled glyph; its corners are in units of the radius.
type polygon [][2]float64

// DrawGlyph implements draw.GlyphDrawer.
func (g polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	for i, corner := range g {
		to := vg.Point{X: at.X + style.Radius*vg.Length(corner[0]), Y: at.Y + style.Radius*vg.Length(corner[1])}
		if i == 0 {
			p.Move(to)
		} else {
			p.Line(to)
		}
	}
	p.Close()
	c.SetColor(style.Color)
	c.Fill(p)
}
