package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQueryVectorsThatPointNowhere: the file and the row are named before any question is answered.
func TestQueryVectorsThatPointNowhere(t *testing.T) {
	for fault, second := range map[string][]float32{
		"row 1: zero vector": {0, 0}, "row 1: component not finite: component 1 is NaN": {1, float32(math.NaN())},
	} {
		header := fmt.Sprintf("%-117s\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }")
		content := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
		content = append(content, header...)
		for _, x := range append([]float32{1, 0}, second...) {
			content, _ = binary.Append(content, binary.LittleEndian, x)
		}
		file := filepath.Join(t.TempDir(), "q.npy")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var printed, complaints bytes.Buffer
		args := []string{"select", "--passages", "../../demo/data", "--query-vectors", file}
		code := run(t.Context(), args, streams{strings.NewReader(""), &printed, &complaints})
		want := "georag: --query-vectors " + file + ": " + fault + "\n"
		if code != exitUsage || complaints.String() != want || printed.Len() > 0 {
			t.Errorf("exit code %d, says %q, want %q; prints %q", code, complaints.String(), want, printed.String())
		}
	}
}
