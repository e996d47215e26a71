package strictjson

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type inner struct {
	Text string `json:"text"`
}

type target struct {
	inner
	K     int            `json:"k"`
	Ratio float64        `json:"ratio"`
	Small []float32      `json:"small"`
	Parts []inner        `json:"parts"`
	Free  map[string]any `json:"free"`
	Name  *string        `json:"name"`
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, in string
		code     Code
		field    string
		message  string
	}{
		{"all", `{"text":"a","k":1,"ratio":-1.5e-3,"small":[1,2.5],"parts":[{"text":"x"},{}],"free":{"K":[{"a":1}]},"name":"é"}`, "", "", ""},
		{"space", " \n{ \"k\" : 1 ,\t\"parts\" : [ { } , { \"text\" : \"\" } ] }\n", "", "", ""},
		{"escaped key", `{"\u006b":1}`, "", "", ""},
		{"empty", "", Malformed, "", "empty"},
		{"only space", "  \n", Malformed, "", "empty"},
		{"array", "[1]", Malformed, "", "not a JSON object"},
		{"literal", "null", Malformed, "", "not a JSON object"},
		{"BOM", "\ufeff{}", Malformed, "", "not a JSON object"},
		{"not UTF-8", "{\"text\":\"\xff\"}", Malformed, "", "UTF-8"},
		{"truncated", `{"k":`, Malformed, "", "end of JSON"},
		{"two values", `{} {}`, Malformed, "", "after top-level"},
		{"NaN", `{"ratio":NaN}`, Malformed, "", "invalid character"},
		{"trailing comma", `{"k":1,}`, Malformed, "", "invalid character"},
		{"comment", `{/*x*/}`, Malformed, "", "invalid character"},
		{"deep", strings.Repeat(`{"free":`, 9) + "1" + strings.Repeat("}", 9), TooDeep, "", "deeper than 8"},
		{"very deep, unclosed", `{"free":` + strings.Repeat("[", 1<<20), TooDeep, "", "deeper than 8"},
		{"brackets in text", `{"text":"` + strings.Repeat("[{", 50) + `\""}`, "", "", ""},
		{"duplicate", `{"k":1,"k":1}`, DuplicateKey, "k", "twice"},
		{"duplicate by escape", `{"k":1,"\u006b":1}`, DuplicateKey, "k", "twice"},
		{"duplicate inside", `{"parts":[{},{"text":"a","text":"b"}]}`, DuplicateKey, "parts[1].text", "twice"},
		{"duplicate in free", `{"free":{"a":{"b":1,"b":2}}}`, DuplicateKey, "free.a.b", "twice"},
		{"unknown", `{"ratoi":1}`, UnknownField, "ratoi", "did you mean ratio?"},
		{"unknown by case", `{"K":1}`, UnknownField, "K", "did you mean k?"},
		{"unknown inside", `{"parts":[{"txt":1}]}`, UnknownField, "parts[0].txt", "did you mean text?"},
		{"unknown, long", `{"` + strings.Repeat("x", 1<<20) + `":1}`, UnknownField, strings.Repeat("x", maxKey) + "…", "unknown field"},
		{"type", `{"k":"1"}`, WrongType, "k", "is a string, want an integer"},
		{"fraction", `{"k":1.5}`, WrongValue, "k", "does not fit an integer"},
		{"1e309", `{"ratio":1e309}`, WrongValue, "ratio", "does not fit a number"},
		{"1e39 in float32", `{"small":[1e39]}`, WrongValue, "small", "does not fit a number"},
		{"object for array", `{"small":{}}`, WrongType, "small", "want an array"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Decode([]byte(c.in), new(target), Options{})
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if e.Code != c.code || e.Field != c.field || !strings.Contains(e.Message, c.message) {
				t.Errorf("got %s %q %q, want %s %q …%s…", e.Code, e.Field, e.Message, c.code, c.field, c.message)
			}
		})
	}
}

func TestOpenAllowsUnknownFieldsAlone(t *testing.T) {
	var got target
	if err := Decode([]byte(`{"k":3,"other":{"x":1}}`), &got, Options{Open: true}); err != nil || got.K != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := Decode([]byte(`{"k":3,"other":{"x":1,"x":2}}`), &got, Options{Open: true}); err == nil {
		t.Error("a duplicate key below an unknown field was accepted")
	}
}

func TestErrorsDoNotRepeatValues(t *testing.T) {
	const value = "confidential"
	for _, in := range []string{
		`{"k":"confidential"}`, `{"ratio":confidential}`, `{"text":"confidential`, `{"small":["confidential"]}`, `{"parts":["confidential"]}`,
	} {
		if err := Decode([]byte(in), new(target), Options{}); err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"k":1}`, `{"parts":[{"text":"\u00e9\/\ud83d\ude00"}],"free":{"a":[[]]}}`, `{"k":1,"k":2}`, `{"small":[1e39]}`, `{"":0}`, `{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got target
		err := Decode(data, &got, Options{})
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Code == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := Decode(again, new(target), Options{}); err != nil {
			t.Fatalf("accepted %q and then refused its own %s: %v", data, again, err)
		}
	})
}
