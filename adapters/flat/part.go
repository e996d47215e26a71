package flat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/tidwall/gjson"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/npy"
)

// idField is the field of a line that identifies the passage.
const idField = "id"

// folder is where an index lies: on the disk, or in a file system such as one embedded in the program.
type folder struct {
	fsys fs.FS
	dir  string // within fsys
	disk string // the folder's path; "" where it is not on the disk
}

func onDisk(dir string) folder { return folder{fsys: os.DirFS(dir), dir: ".", disk: dir} }

// name is what messages call a file of the folder.
func (f folder) name(file string) string {
	if f.disk != "" {
		return filepath.Join(f.disk, file)
	}
	return path.Join(f.dir, file)
}

// part is an open pair of files.
type part struct {
	first   int // row of the index that its row 0 is
	vectors *npy.Matrix
	lines   io.ReaderAt
	size    int64     // of lines, in bytes
	file    io.Closer // behind lines; nil where they are in memory
	spans   []span    // where each line lies
}

// span is a line without its end.
type span struct {
	offset int64
	length int32
}

// openVectors maps the matrix of a part, or reads it where it is not on the disk.
func (f folder) openVectors(files partFiles) (*npy.Matrix, error) {
	var m *npy.Matrix
	var err error
	if f.disk != "" {
		m, err = npy.Open(f.name(files.Vectors))
	} else {
		m, err = npy.OpenFS(f.fsys, path.Join(f.dir, files.Vectors))
	}
	if err != nil {
		return nil, err
	}
	if axes := len(m.Shape()); axes != 2 {
		err := fmt.Errorf("%s: %w: it has %d axes, want 2", f.name(files.Vectors), npy.ErrFormat, axes)
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// openLines opens the payload of a part. On the disk it stays there; elsewhere it is read.
func (f folder) openLines(files partFiles) (lines io.ReaderAt, size int64, file io.Closer, err error) {
	if f.disk == "" {
		data, err := fs.ReadFile(f.fsys, path.Join(f.dir, files.Lines))
		return bytes.NewReader(data), int64(len(data)), nil, err
	}
	opened, err := os.Open(f.name(files.Lines))
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := opened.Stat()
	if err != nil {
		return nil, 0, nil, errors.Join(err, opened.Close())
	}
	return opened, info.Size(), opened, nil
}

// openPart opens a pair of files and calls each with every line's row in the part, ID and fields.
func (f folder) openPart(files partFiles, each func(row int, id core.ID, fields []field) error) (*part, error) {
	p := &part{}
	err := p.open(f, files)
	if err == nil {
		err = p.read(f, files, each)
	}
	if err == nil {
		err = p.complete(f, files)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *part) open(f folder, files partFiles) (err error) {
	if p.vectors, err = f.openVectors(files); err != nil {
		return err
	}
	p.lines, p.size, p.file, err = f.openLines(files)
	return err
}

// read checks every line and remembers where it lies.
func (p *part) read(f folder, files partFiles, each func(row int, id core.ID, fields []field) error) error {
	return jsonl.Each(io.NewSectionReader(p.lines, 0, p.size), f.name(files.Lines), func(l jsonl.Line) error {
		id, fields, err := parseLine(l.Data)
		if err == nil {
			err = each(len(p.spans), id, fields)
		}
		if err == nil && len(p.spans) >= p.vectors.Rows() {
			err = fmt.Errorf("there is no vector for this line: %s has %d rows", f.name(files.Vectors), p.vectors.Rows())
		}
		if err != nil {
			return jsonl.Errorf(f.name(files.Lines), l.Number, "%w", err)
		}
		p.spans = append(p.spans, span{l.Offset, int32(len(l.Data))})
		return nil
	})
}

// complete reports what the files lack of each other or of what the manifest says.
func (p *part) complete(f folder, files partFiles) error {
	n := len(p.spans)
	switch {
	case n < p.vectors.Rows():
		return jsonl.Errorf(f.name(files.Lines), n+1, "the file ends here, and %s has %d rows", f.name(files.Vectors), p.vectors.Rows())
	case n == 0 && files.Rows == unknownRows:
		return jsonl.Errorf(f.name(files.Lines), 1, "%w: the file has no passages", core.ErrEmptyIndex)
	case files.Rows != unknownRows && n != files.Rows:
		return jsonl.Errorf(f.name(files.Lines), n+1, "the file ends here, and %s says it has %d lines", f.name(manifestFile), files.Rows)
	}
	return nil
}

func (p *part) close() error {
	var errs []error
	if p.vectors != nil {
		errs = append(errs, p.vectors.Close())
	}
	if p.file != nil {
		errs = append(errs, p.file.Close())
	}
	return errors.Join(errs...)
}

// field is a member of a line other than the ID.
type field struct {
	name  string
	value gjson.Result
}

// parseLine reads the ID and the other fields of a line, a valid JSON object.
func parseLine(data []byte) (id core.ID, fields []field, err error) {
	var idErr error
	err = jsonl.Members(data, func(name string, value gjson.Result) {
		if name == idField {
			id, idErr = jsonl.ID(value)
			return
		}
		fields = append(fields, field{name, value})
	})
	if err = errors.Join(err, idErr); err == nil && id.IsZero() {
		err = fmt.Errorf("%q is missing", idField)
	}
	return id, fields, err
}
