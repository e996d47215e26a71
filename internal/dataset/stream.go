package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/georag/georag/internal/jsonl"
)

// with hands the content of a file to read, decompressed where the name ends in ".gz".
func with(path string, read func(io.Reader) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	source := io.Reader(bufio.NewReaderSize(file, 1<<20))
	if strings.HasSuffix(path, ".gz") {
		unzipped, err := gzip.NewReader(source)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", path, ErrFormat, err)
		}
		defer unzipped.Close()
		source = unzipped
	}
	return read(source)
}

// array calls yield with every element of the JSON array in a file, counted from 1.
func array[T any](path string, yield func(T) error) error {
	return with(path, func(r io.Reader) error {
		decoder := json.NewDecoder(r)
		if err := open(decoder, '['); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return elements(decoder, path, yield)
	})
}

// elements decodes values until the array ends, which it checks.
func elements[T any](decoder *json.Decoder, path string, yield func(T) error) error {
	for record := 1; decoder.More(); record++ {
		var value T
		if err := decoder.Decode(&value); err != nil {
			return fmt.Errorf("%s: record %d: %w: %w", path, record, ErrFormat, err)
		}
		if err := yield(value); err != nil {
			return at(err, "%s: record %d", path, record)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("%s: %w: the array does not end: %w", path, ErrFormat, err)
	}
	return nil
}

// at says where an error arose; errFull is none and stays as it is.
func at(err error, format string, values ...any) error {
	if errors.Is(err, errFull) {
		return err
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, values...), err)
}

// open reads the delimiter that the next value must start with.
func open(decoder *json.Decoder, want json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if token != want {
		return fmt.Errorf("%w: starts with %v, want %v", ErrFormat, token, want)
	}
	return nil
}

// lines calls yield with every record of a file of one JSON object a line.
func lines[T any](path string, yield func(T) error) error {
	return with(path, func(r io.Reader) error {
		return jsonl.Each(r, path, func(line jsonl.Line) error {
			var value T
			if err := json.Unmarshal(line.Data, &value); err != nil {
				return fmt.Errorf("%s:%d: %w: %w", path, line.Number, ErrFormat, err)
			}
			if err := yield(value); err != nil {
				return at(err, "%s:%d", path, line.Number)
			}
			return nil
		})
	})
}
