// Package jsonl reads files of one JSON object a line, and says which line is at fault.
//
// A line may end in CR LF. A byte order mark, a blank line, invalid UTF-8, a line above [MaxLine] and anything but
// one JSON object on a line are errors that wrap [ErrFormat] and name file and line: a reader that skipped them
// would let line numbers and the rows of the vectors beside them drift apart.
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// MaxLine is the length of the longest line accepted, in bytes.
const MaxLine = 16 << 20

// ErrFormat is wrapped by every complaint about a file's content.
var ErrFormat = errors.New("malformed file")

// Line is one line of a file.
type Line struct {
	Number int    // from 1
	Offset int64  // of its first byte in the file
	Data   []byte // a JSON object without the line's end; valid during the call only
}

// Errorf is an error at a place in a file; it wraps [ErrFormat] and whatever format wraps.
func Errorf(file string, line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w: %w", file, line, ErrFormat, fmt.Errorf(format, args...))
}

// Each calls yield with every line of r, which holds the content of the named file, until yield returns an error.
func Each(r io.Reader, file string, yield func(Line) error) error {
	source := &failing{Reader: r}
	lines := bufio.NewScanner(source)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine+1)
	var advanced int64 // of the last split: the line with its end
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if atEOF && source.err != nil && !bytes.ContainsRune(data, '\n') {
			return 0, nil, source.err // what was read of the last line is not a line
		}
		n, token, err := bufio.ScanLines(data, atEOF)
		advanced = int64(n)
		return n, token, err
	})
	line := Line{}
	for lines.Scan() {
		line.Number++
		line.Data = lines.Bytes()
		if err := check(file, line); err != nil {
			return err
		}
		if err := yield(line); err != nil {
			return err
		}
		line.Offset += advanced
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return Errorf(file, line.Number+1, "longer than %d MiB", MaxLine>>20)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", file, line.Number+1, err)
	}
	return nil
}

// failing remembers why reading ended before the end of the file: bufio.Scanner hands out the torn last line
// before it reports the error.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

func check(file string, line Line) error {
	data := line.Data
	switch {
	case line.Number == 1 && bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return Errorf(file, 1, "starts with a byte order mark; save it as UTF-8 without one")
	case line.Number == 1 && (bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff"))):
		return Errorf(file, 1, "is UTF-16; save it as UTF-8")
	case len(bytes.TrimSpace(data)) == 0:
		return Errorf(file, line.Number, "blank line")
	case !utf8.Valid(data):
		return Errorf(file, line.Number, "invalid UTF-8")
	}
	if !json.Valid(data) {
		var any json.RawMessage
		return Errorf(file, line.Number, "%w", json.Unmarshal(data, &any))
	}
	if bytes.TrimLeft(data, " \t\r")[0] != '{' {
		return Errorf(file, line.Number, "not a JSON object: %.40q", data)
	}
	return nil
}

// Members calls yield with each name and value of the JSON object data, which must be valid JSON. Names are
// compared exactly, unlike in encoding/json. A name that appears twice is an error.
func Members(data []byte, yield func(name string, value gjson.Result)) error {
	seen := make(map[string]struct{}, 8)
	var err error
	gjson.ParseBytes(data).ForEach(func(key, value gjson.Result) bool {
		name := key.String()
		if _, twice := seen[name]; twice {
			err = fmt.Errorf("%q appears twice in one object", name)
			return false
		}
		seen[name] = struct{}{}
		yield(name, value)
		return true
	})
	return err
}
