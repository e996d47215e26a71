package integration

import (
	"fmt"
	"os"
	"testing"

	"github.com/georag/georag/internal/milvusserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := milvusserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	for _, closeShared := range closers {
		if err := closeShared(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
