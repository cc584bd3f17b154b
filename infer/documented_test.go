package infer

import (
	"os"
	"strings"
	"testing"
)

// TestTheDocumentedCardIsRead: Load accepts the model card in docs/reference/models.md.
func TestTheDocumentedCardIsRead(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "```yaml\n")
	text, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("docs/reference/models.md shows no card in YAML")
	}
	c, err := readCard([]byte(text))
	if err == nil {
		err = c.Validate()
	}
	if err != nil || c.Latent != 2 || len(c.Preprocess) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}
