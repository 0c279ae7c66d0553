package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

//go:embed script.js
var scriptText string

// drawnStep is a step with the length of its bar.
type drawnStep struct {
	Step
	Number int
	Bar    drawnBar
}

// Write writes the page. It returns the errors of w.
func (p *Page) Write(w io.Writer) error {
	page, err := template.New("page").Funcs(template.FuncMap{"add": func(a, b int) int { return a + b }}).Parse(pageText)
	if err != nil {
		return err
	}
	palette := coloursOf(p.Packings)
	comparisons := make([]drawnComparison, len(p.Comparisons))
	for i, c := range p.Comparisons {
		comparisons[i] = drawComparison(c)
	}
	charts := make([]drawnChart, len(p.Charts))
	for i, c := range p.Charts {
		charts[i] = drawChart(c)
	}
	packings := make([]drawnPacking, len(p.Packings))
	for i, c := range p.Packings {
		packings[i] = drawPacking(c, palette, mostText/len(p.Packings))
	}
	style, script := strings.TrimSpace(styleText), strings.TrimSpace(scriptText)
	return page.Execute(w, map[string]any{
		"Page": p, "Comparisons": comparisons, "Charts": charts, "Packings": packings, "Steps": drawSteps(p.Steps), "BarWidth": barWidth, "LaneHeight": laneHeight,
		"Policy": fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(style), hashOf(script)),
		"Style":  template.CSS(style), //nolint:gosec // it is a file of this package
		"Script": template.JS(script), //nolint:gosec // it is a file of this package, and must stay as its hash has it
	})
}

func drawSteps(s *Steps) []drawnStep {
	if s == nil {
		return nil
	}
	bars := make([]Bar, len(s.Steps))
	for i, step := range s.Steps {
		bars[i] = step.Bar
	}
	drawn := drawBars(bars, s.Most)
	out := make([]drawnStep, len(s.Steps))
	for i, step := range s.Steps {
		out[i] = drawnStep{step, i, drawn[i]}
	}
	return out
}

// hashOf returns the source expression that allows the text in a Content-Security-Policy.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
