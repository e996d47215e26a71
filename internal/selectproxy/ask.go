package selectproxy

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/georag/georag/core"
)

// Headers of requests. gRPC metadata has the same names in lower case. None of them goes on to the database.
const (
	// HeaderSelect asks for a selection: "on", or a preset's name; "off" asks for none where a rule would make one.
	HeaderSelect = "X-Georag-Select"
	// HeaderQuery is the question's text in base64url of UTF-8, for the sub-queries. A batch gives one for each
	// search, separated by commas; an empty one is none.
	HeaderQuery = "X-Georag-Query"
	// HeaderTenant names the tenant to search, where the store has tenants.
	HeaderTenant = "X-Georag-Tenant"
)

// Headers of answers.
const (
	// HeaderMode names the computation that selected. It is set exactly where the answer is a selection.
	HeaderMode = "X-Georag-Mode"
	// HeaderDegraded lists why a selection is less than what was asked for.
	HeaderDegraded = "X-Georag-Degraded"
	// HeaderSkipped says why a request that a rule covers was passed through.
	HeaderSkipped = "X-Georag-Skipped"
)

// Values of [HeaderSelect] beside the presets' names.
const (
	selectOn  = "on"
	selectOff = "off"
)

// maxText bounds a question's text, in bytes.
const maxText = 8 << 10

// ask is what a request's headers say.
type ask struct {
	explicit bool
	off      bool
	preset   string   // "" is the collection's settings
	texts    []string // of each search; nil is none
	tenant   string
}

// readAsk reads the headers; get returns a header's value, "" where it is not there. The error is for the client.
func readAsk(get func(name string) string) (ask, error) {
	a := ask{tenant: get(HeaderTenant)}
	switch value := strings.ToLower(strings.TrimSpace(get(HeaderSelect))); {
	case value == "":
	case value == selectOff:
		a.off = true
	case value == selectOn:
		a.explicit = true
	case slices.Contains(core.PresetNames(), value):
		a.explicit, a.preset = true, value
	default:
		a.explicit = true
		return a, &Malformed{fmt.Sprintf("%s: want %s, %s or a preset: %s", HeaderSelect, selectOn, selectOff, strings.Join(core.PresetNames(), ", "))}
	}
	given := get(HeaderQuery)
	if given == "" {
		return a, nil
	}
	for _, part := range strings.Split(given, ",") {
		text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(part), "="))
		if err != nil || !utf8.Valid(text) || len(text) > maxText {
			return a, &Malformed{fmt.Sprintf("%s: want base64url of at most %d bytes of UTF-8, one for each search", HeaderQuery, maxText)}
		}
		a.texts = append(a.texts, string(text))
	}
	return a, nil
}

// EncodeQuery is a question's text as [HeaderQuery] carries it.
func EncodeQuery(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
