package flat_test

import (
	"context"
	"fmt"

	"github.com/georag/georag/adapters/flat"
	"github.com/georag/georag/core"
	"github.com/georag/georag/demo"
	"github.com/georag/georag/internal/questions"
)

func Example() {
	store, err := flat.OpenFS(demo.Files, "data", flat.Config{}) // or flat.Open(flat.Config{Dir: "…"})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	stage := core.Stage{Store: store}
	selection, err := stage.Select(context.Background(), question())
	if err != nil {
		panic(err)
	}
	for _, item := range selection.Items {
		fmt.Println(item.ID, "·", item.Payload["title"])
	}
	// Output:
	// voting-rights-act-1 · Voting Rights Act of 1965
	// hubert-humphrey-1 · Hubert Humphrey
	// lyndon-johnson-1 · Lyndon B. Johnson
	// vice-presidency-1 · Vice President of the United States
	// civil-rights-act-1964-1 · Civil Rights Act of 1964
}

// question is the first one of the demonstration, with its vectors.
func question() core.Query {
	asked, err := questions.OpenFS(demo.Files, "data")
	if err != nil {
		panic(err)
	}
	return asked[0].Query()
}
