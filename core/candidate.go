package core

// Candidate is a passage the store proposed.
type Candidate struct {
	ID ID `json:"id"`
	// Score is the store's own score, always "higher is better": adapters convert distances and say so.
	Score float64 `json:"score"`
	// Vector is the stored vector, of the collection's dimension and any norm; nil where it was not asked for.
	Vector []float32 `json:"-"`
	// Payload holds the passage's stored fields ("title", "text", …).
	Payload map[string]any `json:"payload,omitempty"`
}

// PayloadTitle returns the payload's "title"; empty where it has none.
func (c Candidate) PayloadTitle() string {
	title, _ := c.Payload["title"].(string)
	return title
}

// PayloadBody returns the payload's "text", "content" or "page_content", the first that is there; empty where it has
// none of them.
func (c Candidate) PayloadBody() string {
	for _, key := range []string{"text", "content", "page_content"} {
		if text, ok := c.Payload[key].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// PayloadText returns the text a reranker or a person reads: title and body, joined as "title. text". It is empty
// where the payload has neither.
func (c Candidate) PayloadText() string {
	title, body := c.PayloadTitle(), c.PayloadBody()
	if title == "" || body == "" {
		return title + body
	}
	return title + ". " + body
}
