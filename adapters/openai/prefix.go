package openai

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/georag/georag/core"
)

// defaultTask is the instruction that Qwen3 and E5-instruct models were evaluated with for web search.
const defaultTask = "Given a web search query, retrieve relevant passages that answer the query"

// prefixPair is what a family of models expects before the two kinds of text; %s stands for the task instruction.
type prefixPair struct{ query, passage string }

// prefixPresets follow the model cards of each family, to the letter: a missing space changes the vectors.
var prefixPresets = map[string]prefixPair{
	"":            {},
	"none":        {},
	"e5":          {"query: ", "passage: "},
	"e5-instruct": {"Instruct: %s\nQuery: ", ""},
	"bge":         {"Represent this sentence for searching relevant passages: ", ""},
	"bge-zh":      {"为这个句子生成表示以用于检索相关文章：", ""},
	"qwen3":       {"Instruct: %s\nQuery:", ""},
	"nomic":       {"search_query: ", "search_document: "},
	"mxbai":       {"Represent this sentence for searching relevant passages: ", ""},
	"arctic2":     {"query: ", ""},
	"gemma":       {"task: search result | query: ", "title: none | text: "},
}

// PrefixPresets lists the names that [PrefixConfig.Preset] takes.
func PrefixPresets() []string {
	names := slices.Sorted(maps.Keys(prefixPresets))
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// PrefixConfig says what is put before a text to tell the model whether it is a query or a passage.
type PrefixConfig struct {
	// Preset names a model family: e5, e5-instruct, bge, bge-zh, qwen3, nomic, mxbai, arctic2, gemma, or none (the
	// default).
	Preset string `koanf:"preset"`
	// Instruction is the task in the prefix of qwen3 and e5-instruct. Empty is web search.
	Instruction string `koanf:"instruction"`
	// Query and Passage, where set, replace the preset's prefixes; "" is no prefix.
	Query   *string `koanf:"query"`
	Passage *string `koanf:"passage"`
}

// Validate reports an unknown preset, or an instruction that would be ignored; the error wraps [core.ErrInvalid].
func (c PrefixConfig) Validate() error {
	preset, ok := prefixPresets[c.Preset]
	if !ok {
		return fmt.Errorf("adapters/openai: prefix preset %q: %w: must be one of %s", c.Preset, core.ErrInvalid, strings.Join(PrefixPresets(), ", "))
	}
	if c.Instruction != "" && (c.Query != nil || !strings.Contains(preset.query, "%s")) {
		return fmt.Errorf("adapters/openai: prefix instruction %q: %w: only the presets qwen3 and e5-instruct have one", c.Instruction, core.ErrInvalid)
	}
	return nil
}

func (c PrefixConfig) resolve() prefixPair {
	pair := prefixPresets[c.Preset]
	task := c.Instruction
	if task == "" {
		task = defaultTask
	}
	pair.query = strings.Replace(pair.query, "%s", task, 1)
	if c.Query != nil {
		pair.query = *c.Query
	}
	if c.Passage != nil {
		pair.passage = *c.Passage
	}
	return pair
}
