package selectproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/georag/georag/core"
)

// DefaultTimeout bounds the selections of one request.
const DefaultTimeout = 2 * time.Second

// maxSearches bounds the searches of a batch that are selected for.
const maxSearches = 64

// Collection is one whose searches may be selected for.
type Collection struct {
	Stage *core.Stage
	// Always selects also where the request does not ask for it.
	Always bool
}

// Selector decides about requests and selects. Its fields are set once; it is then safe for concurrent use.
type Selector struct {
	// Collections by the name that requests give.
	Collections map[string]Collection
	// Admit waits for a turn; nil is no waiting.
	Admit func(context.Context) (leave func(), err error)
	// Problem tells an error of Admit or of a stage as it is told to clients.
	Problem func(error) Problem
	// Record is told of every selection; nil is nobody.
	Record func(context.Context, core.Trace)
	// Timeout bounds the selections of one request. 0 is [DefaultTimeout].
	Timeout time.Duration
}

// Problem is why a request is refused.
type Problem struct {
	Status     int // of HTTP
	Message    string
	RetryAfter time.Duration
}

// Search is one search of a request, as the core reads it, and how many passages it wants.
type Search struct {
	Query core.Query
	K     int
}

// Unsupported is a part of a search that a selection cannot honour.
type Unsupported struct{ Field, Reason string }

func (u *Unsupported) Error() string { return u.Field + ": " + u.Reason }

// Malformed is a request that is not what its protocol says.
type Malformed struct{ Message string }

func (m *Malformed) Error() string { return m.Message }

// TooLarge is a body that is longer than what is read for a selection.
type TooLarge struct{ Most int }

func (t *TooLarge) Error() string {
	return fmt.Sprintf("the body is longer than the %d bytes that are read for a selection", t.Most)
}

// Request is what a [Selector] decides about.
type Request struct {
	Collection string
	// Header returns a header's value, "" where it is not there.
	Header func(name string) string
	// Tenant that the caller's key is bound to; "" where it may name any.
	Tenant string
	// Searches reads the request. Its error is an *[Unsupported], a *[TooLarge] or a *[Malformed].
	Searches func() ([]Search, error)
}

// Decision is what becomes of a request: a refusal, a selection, or else that it passes through.
type Decision struct {
	Problem *Problem
	Answers []Answer // one per search
	Skipped string   // why a rule is not followed
}

// Answer is the selection for one search.
type Answer struct {
	IDs      []core.ID // in selection order; none where nothing is in the scope
	Mode     string
	Degraded []string
}

// Selected reports whether the request was selected for.
func (d Decision) Selected() bool { return d.Answers != nil }

// Covers reports whether a request may be selected for, before its body is read.
func (s *Selector) Covers(collection string, header func(string) string) bool {
	return s.Collections[collection].Always || header(HeaderSelect) != ""
}

// Decide applies the rules: what asks for a selection gets one or an error; what a rule covers gets one or passes
// through; all else passes through. A caller bound to a tenant never passes through, for the database would not hold
// it to that tenant.
func (s *Selector) Decide(ctx context.Context, r Request) Decision {
	asked, err := readAsk(r.Header)
	rule := s.Collections[r.Collection].Always
	if err == nil && !asked.off && (asked.explicit || rule) {
		var answers []Answer
		if answers, err = s.run(ctx, r, asked); err == nil {
			return Decision{Answers: answers}
		}
	}
	switch {
	case err != nil && (asked.explicit || r.Tenant != "" && rule):
		problem := s.problem(err)
		return Decision{Problem: &problem}
	case r.Tenant != "":
		return Decision{Problem: BoundToTenant()}
	case err != nil && rule:
		return Decision{Skipped: s.skipped(err)}
	}
	return Decision{}
}

// BoundToTenant is the refusal of a request that would pass through for a caller bound to a tenant.
func BoundToTenant() *Problem {
	return &Problem{Status: http.StatusForbidden, Message: "the key is bound to a tenant: only selections are answered, for nothing else is held to that tenant"}
}

// run reads the request and selects for each of its searches, during one turn.
func (s *Selector) run(ctx context.Context, r Request, asked ask) ([]Answer, error) {
	tenant, err := scopeTenant(r.Tenant, asked.tenant)
	if err != nil {
		return nil, err
	}
	searches, err := r.Searches()
	if err != nil {
		return nil, err
	}
	collection, ok := s.Collections[r.Collection]
	if !ok {
		return nil, &Unsupported{"collection", "it is not one that this proxy is configured to select from"}
	}
	if err := asked.complete(searches); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Timeout, DefaultTimeout))
	defer cancel()
	if s.Admit != nil {
		leave, err := s.Admit(ctx)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	answers := make([]Answer, len(searches))
	for i, search := range searches {
		search.Query.Scope.Tenant = tenant
		if answers[i], err = s.selectFor(ctx, collection, asked, search); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// tenantError is a tenant that the caller may not name.
type tenantError struct{}

func (tenantError) Error() string { return HeaderTenant + ": the key is bound to another tenant" }

func scopeTenant(bound, asked string) (string, error) {
	if bound != "" && asked != "" && asked != bound {
		return "", tenantError{}
	}
	return cmp.Or(bound, asked), nil
}

// complete gives each search its text, and checks that it then has something to look for.
func (a ask) complete(searches []Search) error {
	switch {
	case len(searches) == 0 || len(searches) > maxSearches:
		return &Unsupported{"searches", fmt.Sprintf("there are %d, want 1 to %d", len(searches), maxSearches)}
	case a.texts != nil && len(a.texts) != len(searches):
		return &Unsupported{HeaderQuery, fmt.Sprintf("it has %d texts for %d searches", len(a.texts), len(searches))}
	}
	for i := range searches {
		if a.texts != nil {
			searches[i].Query.Text = a.texts[i]
		}
		if q := searches[i].Query; q.Vector == nil && q.Text == "" {
			return &Unsupported{"query", "there is neither a vector nor a text in " + HeaderQuery}
		}
	}
	return nil
}

func (s *Selector) selectFor(ctx context.Context, c Collection, asked ask, search Search) (Answer, error) {
	stage := *c.Stage
	var err error
	if stage.Settings, err = settingsFor(stage.Settings, asked.preset, search.K); err != nil {
		return Answer{}, err
	}
	made, err := stage.Select(ctx, search.Query)
	if errors.Is(err, core.ErrEmptyIndex) {
		return Answer{Mode: "empty"}, nil // to these protocols that is an answer without passages, and no error
	}
	if err != nil {
		return Answer{}, err
	}
	if s.Record != nil {
		s.Record(ctx, made.Trace)
	}
	answer := Answer{IDs: made.IDs(), Mode: made.Trace.Mode}
	for _, reason := range made.Trace.Degraded {
		answer.Degraded = append(answer.Degraded, string(reason.Code))
	}
	return answer, nil
}

// settingsFor is the collection's settings, or those of a preset, with k passages wanted.
func settingsFor(base core.Settings, preset string, k int) (core.Settings, error) {
	if base == (core.Settings{}) {
		base = core.DefaultPreset()
	}
	settings := base
	if preset != "" && preset != base.Preset {
		var err error
		if settings, err = core.Preset(preset); err != nil {
			return settings, err
		}
		settings.Strict, settings.Timeout = base.Strict, base.Timeout
	}
	if k < 1 || k > core.MaxK {
		return settings, &Unsupported{"limit", fmt.Sprintf("it is %d, want 1 to %d", k, core.MaxK)}
	}
	settings.K, settings.Candidates = k, max(settings.Candidates, k)
	return settings, nil
}

// problem tells why an explicit request is refused.
func (s *Selector) problem(err error) Problem {
	var (
		unsupported *Unsupported
		tooLarge    *TooLarge
		malformed   *Malformed
		tenant      tenantError
	)
	switch {
	case errors.As(err, &unsupported):
		return Problem{Status: http.StatusBadRequest, Message: "a selection cannot honour " + unsupported.Error()}
	case errors.As(err, &tooLarge):
		return Problem{Status: http.StatusRequestEntityTooLarge, Message: tooLarge.Error()}
	case errors.As(err, &malformed):
		return Problem{Status: http.StatusBadRequest, Message: malformed.Error()}
	case errors.As(err, &tenant):
		return Problem{Status: http.StatusForbidden, Message: tenant.Error()}
	}
	return s.Problem(err)
}

// skipped names the reason in a header's characters. Errors of the stage are told by kind alone: their words may quote
// the request.
func (s *Selector) skipped(err error) string {
	problem := s.problem(err)
	var unsupported *Unsupported
	if errors.As(err, &unsupported) {
		return HeaderSafe(unsupported.Error())
	}
	return HeaderSafe(fmt.Sprintf("selection failed: %s", http.StatusText(problem.Status)))
}

// HeaderSafe is text as a header may carry it.
func HeaderSafe(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// Labels are the headers of an answer.
func (d Decision) Labels() map[string]string {
	labels := map[string]string{}
	if d.Skipped != "" {
		labels[HeaderSkipped] = d.Skipped
	}
	var modes, degraded []string
	for _, answer := range d.Answers {
		modes, degraded = append(modes, answer.Mode), append(degraded, answer.Degraded...)
	}
	if len(modes) > 0 {
		labels[HeaderMode] = strings.Join(distinct(modes), ", ")
	}
	if len(degraded) > 0 {
		labels[HeaderDegraded] = strings.Join(distinct(degraded), ", ")
	}
	return labels
}

func distinct(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }
