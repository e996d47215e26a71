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

// PayloadText returns the text a reranker or a person reads: the payload's "title" and "text" (or "content" or
// "page_content"), joined as "title. text". It is empty where the payload has none of them.
func (c Candidate) PayloadText() string {
	title, _ := c.Payload["title"].(string)
	for _, key := range []string{"text", "content", "page_content"} {
		if text, ok := c.Payload[key].(string); ok && text != "" {
			if title == "" {
				return text
			}
			return title + ". " + text
		}
	}
	return title
}
