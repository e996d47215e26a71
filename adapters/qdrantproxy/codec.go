package qdrantproxy

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// frame is one message as it came.
type frame struct{ data []byte }

// rawCodec passes messages on without reading them. Its name keeps the content type of protobuf.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("adapters/qdrantproxy: a %T is no frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.data)}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("adapters/qdrantproxy: a %T is no frame", v)
	}
	f.data = data.Materialize()
	return nil
}
