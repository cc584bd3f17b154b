package report

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"math"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/verdict"
	"driftscope/infer/sdevae/video"
)

//go:embed report.html
var reportPage string

// shown is the number of frames in a report, each with its reconstruction.
const shown = 8

// Write returns a self-contained HTML page with loss curves, reconstructions, the latents' path, the drift field and the card.
func Write(r *sdevae.Result, clip *video.Clip, e *sdevae.Export) ([]byte, error) {
	pictures, err := reconstructions(r, clip)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(e.Card.Training, "", "  ")
	if err != nil {
		return nil, err
	}
	charts := []chart{lossChart(r)}
	for i := 0; i+1 < r.Model.Dim; i += 2 {
		charts = append(charts, pathChart(e, i, i+1))
	}
	charts = append(charts, timeChart(clip, e), driftChart(e))
	var page bytes.Buffer
	err = template.Must(template.New("report").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(reportPage)).Execute(&page, struct {
		Card      *card.Card
		Best      sdevae.Look
		Rectified *gauge.Rectified
		Verdict   *verdict.Verdict
		Training  string
		Frames    int
		Pictures  []picture
		Charts    []drawing
	}{&e.Card, r.Best, e.Rectified, e.Verdict, string(text), clip.Len(), pictures, draw(charts, &err)})
	return page.Bytes(), err
}

// picture is a frame with its reconstruction, as data URLs.
type picture struct {
	Frame          int
	Original, Made template.URL
}

// reconstructions returns frames spread over the clip, with their reconstructions.
func reconstructions(r *sdevae.Result, clip *video.Clip) ([]picture, error) {
	made := make([]float32, clip.Size())
	var out []picture
	for _, f := range numeric.Spread(clip.Frames(), shown) {
		seen, p, err := r.Model.Read(clip, []int{f})
		if err != nil {
			return nil, err
		}
		if err := r.Model.Decode(made, p.Mean, 1); err != nil {
			return nil, err
		}
		original, err := dataURL(clip, seen)
		if err != nil {
			return nil, err
		}
		again, err := dataURL(clip, made)
		if err != nil {
			return nil, err
		}
		out = append(out, picture{f, original, again})
	}
	return out, nil
}

// dataURL returns a CHW picture as an inline PNG.
func dataURL(c *video.Clip, pixels []float32) (template.URL, error) {
	img, area := image.NewRGBA(image.Rect(0, 0, c.Width, c.Height)), c.Width*c.Height
	level := func(channel, i int) uint8 {
		return uint8(math.Round(255 * float64(min(max(pixels[channel*area+i], 0), 1))))
	}
	for i := range area {
		img.SetRGBA(i%c.Width, i/c.Width, color.RGBA{level(0, i), level(min(1, c.Channels-1), i), level(c.Channels-1, i), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return "", fmt.Errorf("drawing the report: %w", err)
	}
	return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil
}
