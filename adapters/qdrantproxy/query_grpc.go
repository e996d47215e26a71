package qdrantproxy

import (
	"errors"
	"io"
	"time"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// queries is a call of either method, read.
type queries interface {
	proto.Message
	GetCollectionName() string
}

// query answers Points/Query or Points/QueryBatch: it selects, refuses or passes through.
func (c *call) query() error {
	first := &frame{}
	if err := c.stream.RecvMsg(first); err != nil {
		if errors.Is(err, io.EOF) {
			return status.Error(codes.Internal, "the call has no message")
		}
		return err
	}
	started := time.Now()
	message := queries(&qd.QueryPoints{})
	if c.method == qd.Points_QueryBatch_FullMethodName {
		message = &qd.QueryBatchPoints{}
	}
	malformed := error(&selectproxy.TooLarge{Most: selectproxy.DefaultMaxBody})
	if len(first.data) <= selectproxy.DefaultMaxBody {
		malformed = decode(first.data, message)
	}
	decision := c.deps.Selector.Decide(c.stream.Context(), selectproxy.Request{
		Collection: message.GetCollectionName(), Header: c.header.Get, Tenant: c.tenant,
		Searches: func() ([]selectproxy.Search, error) {
			if malformed != nil {
				return nil, malformed
			}
			return searches(message)
		},
	})
	if decision.Problem != nil {
		return statusOf(*decision.Problem)
	}
	if err := c.stream.SetHeader(metadata.New(decision.Labels())); err != nil {
		return err
	}
	if !decision.Selected() {
		return c.pass(first)
	}
	return c.answer(message, decision.Answers, started)
}

// searches reads the one search of a query, or those of a batch.
func searches(message queries) ([]selectproxy.Search, error) {
	batch, ok := message.(*qd.QueryBatchPoints)
	if !ok {
		one, err := searchOf(message.(*qd.QueryPoints))
		return []selectproxy.Search{one}, err
	}
	if len(batch.ProtoReflect().GetUnknown()) > 0 {
		return nil, &selectproxy.Unsupported{Field: "query_batch", Reason: "it has a field unknown to this proxy"}
	}
	all := make([]selectproxy.Search, len(batch.GetQueryPoints()))
	for i, q := range batch.GetQueryPoints() {
		if name := q.GetCollectionName(); name != "" && name != batch.GetCollectionName() {
			return nil, &selectproxy.Unsupported{Field: "collection_name", Reason: "a query of the batch names another collection"}
		}
		var err error
		if all[i], err = searchOf(q); err != nil {
			return nil, err
		}
		if all[i].Query.Scope.Consistency == "" {
			all[i].Query.Scope.Consistency = consistencyName(batch.GetReadConsistency())
		}
	}
	return all, nil
}

// answer asks Qdrant for the selected points and sends them in selection order.
func (c *call) answer(message queries, answers []selectproxy.Answer, started time.Time) error {
	if batch, ok := message.(*qd.QueryBatchPoints); ok {
		return c.answerBatch(batch, answers, started)
	}
	response := &qd.QueryResponse{}
	if ids := answers[0].IDs; len(ids) > 0 {
		if err := c.ask(only(message.(*qd.QueryPoints), ids), response); err != nil {
			return err
		}
		response.Result = inOrder(response.GetResult(), ids)
	}
	response.Time = time.Since(started).Seconds()
	return c.send(response)
}

func (c *call) answerBatch(batch *qd.QueryBatchPoints, answers []selectproxy.Answer, started time.Time) error {
	restricted := &qd.QueryBatchPoints{CollectionName: batch.GetCollectionName(), ReadConsistency: batch.GetReadConsistency(), Timeout: batch.Timeout}
	var asked []int
	var ids [][]core.ID
	for i, answer := range answers {
		if len(answer.IDs) > 0 {
			restricted.QueryPoints = append(restricted.QueryPoints, only(batch.GetQueryPoints()[i], answer.IDs))
			asked, ids = append(asked, i), append(ids, answer.IDs)
		}
	}
	response := &qd.QueryBatchResponse{}
	if len(asked) > 0 {
		if err := c.ask(restricted, response); err != nil {
			return err
		}
		if len(response.GetResult()) != len(asked) {
			return status.Errorf(codes.Unavailable, "Qdrant gave %d answers to %d queries", len(response.GetResult()), len(asked))
		}
	}
	all := make([]*qd.BatchResult, len(answers))
	for i := range all {
		all[i] = &qd.BatchResult{}
	}
	for n, i := range asked {
		all[i].Result = inOrder(response.GetResult()[n].GetResult(), ids[n])
	}
	response.Result, response.Time = all, time.Since(started).Seconds()
	return c.send(response)
}

// ask makes the call at Qdrant, with another message.
func (c *call) ask(message, response proto.Message) error {
	data, err := proto.Marshal(message)
	if err != nil {
		return status.Error(codes.Internal, "the restricted query does not marshal")
	}
	var header, trailer metadata.MD
	came := &frame{}
	err = c.channel.Invoke(c.ctx, c.method, &frame{data}, came, grpc.Header(&header), grpc.Trailer(&trailer))
	c.stream.SetTrailer(trailer)
	if err != nil {
		return err
	}
	if err := c.stream.SetHeader(header); err != nil {
		return err
	}
	if proto.Unmarshal(came.data, response) != nil {
		return status.Error(codes.Unavailable, "Qdrant's answer cannot be read")
	}
	return nil
}

func (c *call) send(response proto.Message) error {
	data, err := proto.Marshal(response)
	if err != nil {
		return status.Error(codes.Internal, "the answer does not marshal")
	}
	return c.stream.SendMsg(&frame{data})
}
