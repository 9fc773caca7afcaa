package file

import (
	"fmt"
	"strings"
)

// The modes of a load.
const (
	Closed = "closed" // clients that each ask as soon as they have their last answer
	Open   = "open"   // queries that arrive at a rate, whatever becomes of those before them
	SLO    = "slo"    // an open loop at the highest rate that keeps a promise
)

// What the arrivals of an open loop are.
const (
	Poisson  = "poisson"
	Constant = "constant"
)

const loadExample = "for example load: [{closed: [1, 2]}, {open: {rate: [200, 400]}}, {slo: {p99: 20ms}}]"

// defaultInFlight is how many queries of an open loop are served at a time where the file does not say.
const defaultInFlight = 1

func openFields() []field {
	return []field{
		{name: "rate", kind: fieldOther, schema: "rates", required: true, doc: "Arrivals a second; a list gives one load each."},
		{name: "arrivals", kind: fieldText, enum: []string{Poisson, Constant}, def: Poisson, doc: "poisson arrives at random, as independent users do; constant at equal distances."},
		{name: "clients", kind: fieldInt, min: 1, max: maxClients, def: defaultInFlight, doc: "Queries that are served at a time; further ones wait, and their wait is part of their latency."},
	}
}

func sloFields() []field {
	return []field{
		{name: "p99", kind: fieldOther, schema: "durations", required: true, doc: "Latency that 99% of the queries must keep, from their arrival; a list gives one load each."},
		{name: "where", kind: fieldText, doc: "What else a point must reach, over columns of the results, such as ann_recall_at_10 >= 0.95."},
		{name: "arrivals", kind: fieldText, enum: []string{Poisson, Constant}, def: Poisson, doc: "As for open."},
		{name: "clients", kind: fieldInt, min: 1, max: maxClients, def: defaultInFlight, doc: "As for open."},
	}
}

// maxClients bounds goroutines; maxRate is beyond what any clock here can tell apart.
const (
	maxClients = 4096
	maxRate    = 1e8
)

// load reads measure.load. Each of its items gives one Load, or several where it has lists.
func (d *decoder) load(s *section) []Load {
	e := s.get("load")
	if e == nil {
		return []Load{{Mode: Closed, Clients: 1}}
	}
	if e.val.kind == scalar || emptyList(e.val) {
		s.wrong(e, "must be a list of mappings, not "+e.val.describe(), loadExample)
		return nil
	}
	var out []Load
	seen := map[Load]bool{}
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("measure.load[%d]", i)
		if n.kind != mapping || len(n.entries) != 1 {
			d.add(placeOf(n, e.pos), name, "must be a mapping with one key, not "+n.describe(), loadExample)
			continue
		}
		mode := &n.entries[0]
		name = join(name, mode.key)
		var loads []Load
		switch mode.key {
		case Closed:
			loads = d.closedLoads(s, mode, name)
		case Open:
			loads = d.openLoads(mode, name)
		case SLO:
			loads = d.sloLoads(mode, name)
		default:
			d.unknownKey(*mode, fmt.Sprintf("measure.load[%d]", i), []string{Closed, Open, SLO})
		}
		for _, one := range loads {
			same := one
			same.Pos, same.WherePos = Pos{}, Pos{}
			if seen[same] {
				d.add(one.Pos, name, "has "+one.String()+" twice", "remove one")
				continue
			}
			seen[same] = true
			out = append(out, one)
		}
	}
	return out
}

func (d *decoder) closedLoads(s *section, mode *entry, name string) (out []Load) {
	if emptyList(mode.val) {
		d.add(mode.pos, name, "is an empty list", loadExample)
	}
	for _, c := range elements(mode.val) {
		v, wrong := s.numberIn(c, &field{kind: fieldInt, min: 1, max: maxClients})
		if !wrong.ok() {
			d.add(placeOf(c, mode.pos), name, wrong.msg, loadExample)
			continue
		}
		out = append(out, Load{Mode: Closed, Clients: int(v), Pos: placeOf(c, mode.pos)})
	}
	return out
}

func (d *decoder) openLoads(mode *entry, name string) (out []Load) {
	s, ok := d.openLoop(mode, name, openFields())
	if !ok {
		return nil
	}
	arrivals, _ := s.text("arrivals")
	clients := s.integer("clients")
	e := s.get("rate")
	if e == nil {
		return nil
	}
	if emptyList(e.val) {
		s.wrong(e, "is an empty list", loadExample)
	}
	for _, n := range elements(e.val) {
		v, wrong := s.numberIn(n, &field{kind: fieldNumber, min: 1e-3, max: maxRate})
		if !wrong.ok() {
			d.add(placeOf(n, e.pos), join(name, "rate"), wrong.msg, "queries a second, for example rate: [200, 400]")
			continue
		}
		out = append(out, Load{Mode: Open, Rate: v, Arrivals: arrivals, Clients: clients, Pos: placeOf(n, e.pos)})
	}
	return out
}

func (d *decoder) sloLoads(mode *entry, name string) (out []Load) {
	s, ok := d.openLoop(mode, name, sloFields())
	if !ok {
		return nil
	}
	arrivals, _ := s.text("arrivals")
	where, wherePos := s.text("where")
	clients := s.integer("clients")
	e := s.get("p99")
	if e == nil {
		return nil
	}
	if emptyList(e.val) {
		s.wrong(e, "is an empty list", loadExample)
	}
	for _, n := range elements(e.val) {
		text, isText := n.value.(string)
		if !isText {
			d.add(placeOf(n, e.pos), join(name, "p99"), "must be a duration such as 20ms, not "+n.describe(), unitHint(n, "ms"))
			continue
		}
		limit, err := parseDuration(text)
		if err != nil || limit <= 0 {
			d.add(placeOf(n, e.pos), join(name, "p99"), "must be a duration over zero, such as 20ms, not "+n.describe(), "")
			continue
		}
		out = append(out, Load{Mode: SLO, P99: limit, Where: strings.TrimSpace(where), WherePos: wherePos, Arrivals: arrivals, Clients: clients, Pos: placeOf(n, e.pos)})
	}
	return out
}

// openLoop opens the mapping of an open loop.
func (d *decoder) openLoop(mode *entry, name string, fields []field) (*section, bool) {
	if mode.val.kind != mapping {
		d.add(placeOf(mode.val, mode.pos), name, "must be a mapping, not "+mode.val.describe(), loadExample)
		return nil, false
	}
	return d.open(mode, name, fields)
}

// String names the load for people.
func (l Load) String() string {
	switch l.Mode {
	case Open:
		return fmt.Sprintf("%s queries a second (%s)", formatFloat(l.Rate), l.Arrivals)
	case SLO:
		text := fmt.Sprintf("p99 <= %v", l.P99)
		if l.Where != "" {
			text += " where " + l.Where
		}
		return text
	}
	if l.Clients == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", l.Clients)
}

// Canonical is the load as the sweep file writes it.
func (l Load) Canonical() string {
	inner := flow{}
	switch l.Mode {
	case Open:
		inner.raw("rate", formatFloat(l.Rate))
	case SLO:
		inner.raw("p99", l.P99.String())
		if l.Where != "" {
			inner.raw("where", yamlString(l.Where))
		}
	default:
		return fmt.Sprintf("{%s: %d}", l.Mode, l.Clients)
	}
	inner.raw("arrivals", l.Arrivals)
	inner.raw("clients", fmt.Sprint(l.Clients))
	return fmt.Sprintf("{%s: %s}", l.Mode, inner)
}
