package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/georag/georag/core"
)

// feverClaim is a line of train.jsonl or shared_task_dev.jsonl.
type feverClaim struct {
	ID    int64  `json:"id"`
	Label string `json:"label"` // SUPPORTS, REFUTES or NOT ENOUGH INFO
	Claim string `json:"claim"`
	// Evidence holds sets of [annotation, evidence, page, sentence]; the pages of one set suffice.
	Evidence [][][4]any `json:"evidence"`
}

// feverPage is a line of wiki-pages/wiki-001.jsonl and the other files of the dump.
type feverPage struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// readFEVER reads the claims at path and the pages of Options.Pages. A passage is the introduction of a page,
// as the dump holds it; gold are the pages of a claim's first evidence set; the answer is the label.
func readFEVER(c *collector, path string, o Options) error {
	pages := o.Pages
	if pages == "" {
		pages = filepath.Join(filepath.Dir(path), "wiki-pages")
	}
	claims, wanted, err := readClaims(c, path, o.Limit)
	if err != nil {
		return err
	}
	if err := readPages(c, pages, wanted, o.Distractors); err != nil {
		return err
	}
	for _, q := range claims {
		missing := slices.ContainsFunc(q.Gold, func(id core.ID) bool { _, ok := c.passage[id]; return !ok })
		if missing {
			c.skip("an evidence page is not in the dump")
			continue
		}
		if err := c.ask(q); err != nil {
			return err
		}
	}
	return nil
}

// readClaims returns up to limit claims that have evidence, and the pages it is on.
func readClaims(c *collector, path string, limit int) (claims []Question, wanted map[core.ID]bool, err error) {
	wanted = map[core.ID]bool{}
	err = lines(path, func(r feverClaim) error {
		q := Question{ID: strconv.FormatInt(r.ID, 10), Type: r.Label, Text: r.Claim, Answers: []string{r.Label}}
		for _, piece := range firstSet(r.Evidence) {
			if page, ok := piece[2].(string); ok {
				q.Gold = append(q.Gold, pageID(page))
			}
		}
		if len(q.Gold) == 0 {
			c.skip("no evidence")
			return nil
		}
		for _, id := range q.Gold {
			wanted[id] = true
		}
		if claims = append(claims, q); len(claims) == limit {
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		err = nil
	}
	return claims, wanted, err
}

func firstSet(sets [][][4]any) [][4]any {
	if len(sets) == 0 {
		return nil
	}
	return sets[0]
}

// readPages adds the wanted pages and the first further ones.
func readPages(c *collector, folder string, wanted map[core.ID]bool, further int) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: %w: no wiki-pages/*.jsonl; FEVER hands out the pages apart from the claims", folder, ErrFormat)
	}
	slices.Sort(files)
	for _, file := range files {
		err := lines(file, func(p feverPage) error {
			id := pageID(p.ID)
			if p.Text == "" || !wanted[id] && further == 0 { // the dump has empty pages
				return nil
			}
			if !wanted[id] {
				further--
			}
			return c.add(Passage{ID: id, Title: pageTitle(p.ID), Text: p.Text})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pageID is a page's name in one Unicode form: claims and pages of FEVER differ in theirs.
func pageID(name string) core.ID { return core.StringID(norm.NFC.String(name)) }

var brackets = strings.NewReplacer("-LRB-", "(", "-RRB-", ")", "-LSB-", "[", "-RSB-", "]", "-COLON-", ":", "_", " ")

func pageTitle(name string) string { return norm.NFC.String(brackets.Replace(name)) }
