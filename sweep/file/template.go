package file

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"frontier/internal/param"
)

var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// TemplateSpec describes the values of a template axis: whole numbers.
func TemplateSpec(name string) *param.Spec {
	return &param.Spec{Name: name, Type: param.Int, Doc: fmt.Sprintf("Fills {%s}.", name)}
}

// Fill puts values into the {placeholders} of text. A placeholder without a value is an error.
func Fill(text string, values map[string]int64) (string, error) {
	missing := ""
	out := placeholder.ReplaceAllStringFunc(text, func(m string) string {
		v, ok := values[m[1:len(m)-1]]
		if !ok {
			missing = m
			return m
		}
		return strconv.FormatInt(v, 10)
	})
	if missing != "" {
		return "", fmt.Errorf("%q: %s has no value", text, missing)
	}
	return out, nil
}

// templateText is one string of an entry that may have placeholders.
type templateText struct {
	param string
	names []string
	pos   Pos
}

// isTemplate says whether strings of a parameter may have placeholders.
func isTemplate(spec *param.Spec) bool { return spec.Type == param.String && len(spec.Enum) == 0 }

// templateTexts are the strings of an entry that may have placeholders.
func templateTexts(n *node, specs []param.Spec) []templateText {
	var out []templateText
	for i := range specs {
		e := n.get(specs[i].Name)
		if e == nil || !isTemplate(&specs[i]) {
			continue
		}
		for _, one := range elements(e.val) {
			text, ok := one.value.(string)
			if !ok {
				continue
			}
			t := templateText{param: e.key, pos: one.pos}
			for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
				t.names = append(t.names, m[1])
			}
			out = append(out, t)
		}
	}
	return out
}

// checkTemplate reports placeholders without a key, and keys that only some of the texts use: the others would be
// built and measured once for each of its values, all the same.
func (d *decoder) checkTemplate(n *node, name string, texts []templateText) {
	reported := map[string]bool{}
	for _, t := range texts {
		for _, want := range t.names {
			if n.get(want) == nil && !reported[want] {
				reported[want] = true
				d.add(t.pos, join(name, t.param), fmt.Sprintf("{%s} has no value", want), d.templateHint(n, want, texts))
			}
		}
	}
	for _, e := range n.entries {
		used, everywhere := false, map[string]bool{}
		for _, t := range texts {
			has := slices.Contains(t.names, e.key)
			used = used || has
			if _, ok := everywhere[t.param]; !ok {
				everywhere[t.param] = true
			}
			everywhere[t.param] = everywhere[t.param] && has
		}
		if !used {
			continue
		}
		whole := false
		for _, all := range everywhere {
			whole = whole || all
		}
		if !whole {
			d.add(e.pos, join(name, e.key), fmt.Sprintf("{%s} is not in every value of the parameter that it fills", e.key), "give those without it an entry of their own")
		}
	}
}

// templateHint suggests the key that was meant, or shows how to give a value.
func (d *decoder) templateHint(n *node, want string, texts []templateText) string {
	var unused []string
	for _, e := range n.entries {
		if !slices.ContainsFunc(texts, func(t templateText) bool { return t.param == e.key || slices.Contains(t.names, e.key) }) {
			unused = append(unused, e.key)
		}
	}
	unused = slices.DeleteFunc(unused, func(s string) bool { return s == "engine" || s == "search" })
	if near := param.Nearest(want, unused); near != "" {
		return fmt.Sprintf("did you mean {%s}?", near)
	}
	return fmt.Sprintf("add it to this entry, for example %s: [16, 64]", want)
}
