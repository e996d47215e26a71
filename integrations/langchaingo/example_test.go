package langchaingo_test

import (
	"context"
	"fmt"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/integrations/langchaingo"
)

// The stage here is over the corpus that is part of georag. A program has a store of its own, such as adapters/qdrant
// or adapters/milvus, and adapters/openai for both models.
func Example() {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	models, err := demo.NewRecall()
	if err != nil {
		panic(err)
	}
	stage := &core.Stage{Store: store, Planner: core.Planner{Embedder: models, Writer: models}}
	r, err := langchaingo.New(langchaingo.Config{Stage: stage, TopK: 3})
	if err != nil {
		panic(err)
	}
	documents, err := r.GetRelevantDocuments(context.Background(), "who was vice president under the president who signed the Voting Rights Act")
	if err != nil {
		panic(err)
	}
	for _, d := range documents {
		fmt.Printf("%s %.2f %s\n", d.Metadata[langchaingo.MetaID], d.Score, d.Metadata["title"])
	}
	// Output:
	// voting-rights-act-1 0.67 Voting Rights Act of 1965
	// hubert-humphrey-1 0.45 Hubert Humphrey
	// lyndon-johnson-1 0.44 Lyndon B. Johnson
}
