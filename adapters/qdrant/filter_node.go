package qdrant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// node is one JSON value of a filter and where it stands.
type node struct {
	data json.RawMessage
	path string
}

// object is a JSON object's fields; those that are null are left out, as Qdrant reads them.
type object map[string]node

func (n node) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", n.path, core.ErrInvalid, fmt.Sprintf(format, args...))
}

func (n node) unsupported() error {
	return fmt.Errorf("%s: %w over gRPC by this client", n.path, core.ErrUnsupported)
}

// kind is the first byte of the value: {, [, ", t, f, n, a digit or −; 0 where there is none.
func (n node) kind() byte {
	if data := bytes.TrimLeft(n.data, " \t\r\n"); len(data) > 0 {
		return data[0]
	}
	return 0
}

// object reads an object that may have the given fields and no others.
func (n node) object(known ...string) (object, error) {
	keys, err := n.keys()
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !slices.Contains(known, key) {
			return nil, n.errorf("unknown key %q: expected %s", key, strings.Join(known, ", "))
		}
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(n.data, &raw); err != nil {
		return nil, n.errorf("%v", err)
	}
	fields := make(object, len(raw))
	for key, data := range raw {
		if value := (node{data, n.path + "." + key}); value.kind() != 'n' {
			fields[key] = value
		}
	}
	return fields, nil
}

// keys lists an object's keys in order. A key given twice is an error: one of the two would be lost.
func (n node) keys() ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(n.data))
	if !utf8.Valid(n.data) || !json.Valid(n.data) {
		return nil, n.errorf("it is not JSON: %v", json.Unmarshal(n.data, new(any)))
	}
	if n.kind() != '{' {
		return nil, n.errorf("expected an object, not %s", n.data)
	}
	_, _ = decoder.Token() // the brace
	var keys []string
	for decoder.More() {
		token, err := decoder.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, n.errorf("expected a key: %v", err)
		}
		if slices.Contains(keys, key) {
			return nil, n.errorf("the key %q is there twice", key)
		}
		keys = append(keys, key)
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			return nil, n.errorf("%v", err)
		}
	}
	return keys, nil
}

// need returns a field that must be there.
func (o object) need(of node, name string) (node, error) {
	value, ok := o[name]
	if !ok {
		return node{}, of.errorf("%q is missing", name)
	}
	return value, nil
}

// key reads the name of a payload field.
func (o object) key(of node) (string, error) {
	value, err := o.need(of, "key")
	if err != nil {
		return "", err
	}
	key, err := value.text()
	if err == nil && key == "" {
		err = value.errorf("a payload field's name is not empty")
	}
	return key, err
}

func (n node) list() ([]node, error) {
	var raw []json.RawMessage
	if n.kind() != '[' || json.Unmarshal(n.data, &raw) != nil {
		return nil, n.errorf("expected a list, not %s", n.data)
	}
	items := make([]node, len(raw))
	for i, data := range raw {
		items[i] = node{data, n.path + "[" + strconv.Itoa(i) + "]"}
	}
	return items, nil
}

func (n node) text() (text string, err error) {
	if n.kind() != '"' || json.Unmarshal(n.data, &text) != nil {
		return "", n.errorf("expected a text, not %s", n.data)
	}
	return text, nil
}

func (n node) boolean() (flag bool, err error) {
	if json.Unmarshal(n.data, &flag) != nil {
		return false, n.errorf("expected true or false, not %s", n.data)
	}
	return flag, nil
}

// integer reads an integer with every digit; 1.0 is none, as for Qdrant.
func (n node) integer() (int64, error) {
	number, err := strconv.ParseInt(string(bytes.TrimSpace(n.data)), 10, 64)
	if err != nil {
		return 0, n.errorf("expected an integer, not %s", n.data)
	}
	return number, nil
}

func (n node) natural() (uint64, error) {
	number, err := strconv.ParseUint(string(bytes.TrimSpace(n.data)), 10, 64)
	if err != nil {
		return 0, n.errorf("expected a number from 0 on, not %s", n.data)
	}
	return number, nil
}

func (n node) float() (float64, error) {
	number, err := strconv.ParseFloat(string(bytes.TrimSpace(n.data)), 64)
	if err != nil {
		return 0, n.errorf("expected a number, not %s", n.data)
	}
	return number, nil
}

func (n node) pointID() (*qd.PointId, error) {
	if n.kind() != '"' {
		number, err := n.natural()
		return qd.NewIDNum(number), err
	}
	text, err := n.text()
	if err != nil {
		return nil, err
	}
	parsed, err := uuid.Parse(text)
	if err != nil {
		return nil, n.errorf("%q is no point ID: expected an unsigned integer or a UUID", text)
	}
	return qd.NewIDUUID(parsed.String()), nil
}
