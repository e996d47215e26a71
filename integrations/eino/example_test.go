package eino_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/retriever"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/integrations/eino"
)

// demoStage is a stage over the corpus that is part of georag. A program has a store of its own here, such as
// adapters/qdrant or adapters/milvus, and adapters/openai for both models.
func demoStage() *core.Stage {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{})
	if err != nil {
		panic(err)
	}
	models, err := demo.NewRecall()
	if err != nil {
		panic(err)
	}
	return &core.Stage{Store: store, Planner: core.Planner{Embedder: models, Writer: models}}
}

const question = "who was vice president under the president who signed the Voting Rights Act"

func ExampleRetriever() {
	r, err := eino.NewRetriever(eino.RetrieverConfig{Stage: demoStage()})
	if err != nil {
		panic(err)
	}
	documents, err := r.Retrieve(context.Background(), question, retriever.WithTopK(3))
	if err != nil {
		panic(err)
	}
	for _, d := range documents {
		fmt.Printf("%s %.2f %s\n", d.ID, d.Score(), d.MetaData["title"])
	}
	// Output:
	// voting-rights-act-1 0.67 Voting Rights Act of 1965
	// hubert-humphrey-1 0.45 Hubert Humphrey
	// lyndon-johnson-1 0.44 Lyndon B. Johnson
}

// A retriever of any kind finds many documents; the transformer keeps those that cover the question together.
func ExampleTransformer() {
	stage := demoStage()
	nearest := *stage
	nearest.Settings = core.DefaultPreset()
	nearest.Settings.Selector = "cosine"
	many, err := eino.NewRetriever(eino.RetrieverConfig{Stage: &nearest})
	if err != nil {
		panic(err)
	}
	documents, err := many.Retrieve(context.Background(), question, retriever.WithTopK(50))
	if err != nil {
		panic(err)
	}
	t, err := eino.NewTransformer(eino.TransformerConfig{Embedder: stage.Planner.Embedder, Writer: stage.Planner.Writer})
	if err != nil {
		panic(err)
	}
	kept, err := t.Transform(context.Background(), documents, eino.WithQuestion(question), eino.WithK(3))
	if err != nil {
		panic(err)
	}
	for _, d := range kept {
		fmt.Println(d.ID)
	}
	// Output:
	// voting-rights-act-1
	// hubert-humphrey-1
	// lyndon-johnson-1
}
