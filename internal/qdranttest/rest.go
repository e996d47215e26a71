package qdranttest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// REST serves the same collections by Qdrant's REST interface: the version, collections, upserts, queries, batches of
// queries, scrolling and counting, in its shapes and with its error bodies. parseFilter reads the JSON of a filter.
func (s *Server) REST(parseFilter func(text string) (*qd.Filter, error)) http.Handler {
	f := front{Server: s, points: &points{data: s.data}, collections: &collections{data: s.data}, parseFilter: parseFilter}
	mux := http.NewServeMux()
	for pattern, serve := range map[string]func(*http.Request) (any, error){
		"GET /collections":                         f.list,
		"GET /collections/{c}/exists":              f.exists,
		"PUT /collections/{c}":                     f.create,
		"DELETE /collections/{c}":                  f.remove,
		"PUT /collections/{c}/points":              f.upsert,
		"POST /collections/{c}/points/query":       f.query,
		"POST /collections/{c}/points/scroll":      f.scroll,
		"POST /collections/{c}/points/count":       f.count,
		"POST /collections/{c}/points/query/batch": f.queryBatch,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { f.answer(w, r, serve) })
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, fields{"title": "qdrant - vector search engine", "version": Version})
	})
	return mux
}

// fields are a JSON object.
type fields = map[string]any

// front answers REST by what answers gRPC.
type front struct {
	*Server
	points      *points
	collections *collections
	parseFilter func(string) (*qd.Filter, error)
}

// answer checks the key and puts the result, or the error, into Qdrant's envelope.
func (f front) answer(w http.ResponseWriter, r *http.Request, serve func(*http.Request) (any, error)) {
	if key := r.Header.Get("api-key"); f.cfg.APIKey != "" && key != f.cfg.APIKey {
		http.Error(w, "Invalid API key or JWT", http.StatusUnauthorized)
		return
	}
	result, err := serve(r)
	if err != nil {
		code, known := map[codes.Code]int{codes.InvalidArgument: 400, codes.NotFound: 404, codes.AlreadyExists: 409, codes.Unimplemented: 501}[status.Code(err)]
		if !known {
			code = http.StatusInternalServerError
		}
		send(w, code, fields{"status": fields{"error": status.Convert(err).Message()}, "time": 0})
		return
	}
	send(w, http.StatusOK, fields{"result": result, "status": "ok", "time": 0.001})
}

func send(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

func read(r *http.Request, target any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(target); err != nil {
		return status.Errorf(codes.InvalidArgument, "Format error in JSON body: %v", err)
	}
	return nil
}

func (f front) list(r *http.Request) (any, error) {
	found, err := f.collections.List(r.Context(), nil)
	names := []fields{}
	for _, c := range found.GetCollections() {
		names = append(names, fields{"name": c.GetName()})
	}
	return fields{"collections": names}, err
}

func (f front) exists(r *http.Request) (any, error) {
	found, err := f.collections.CollectionExists(r.Context(), &qd.CollectionExistsRequest{CollectionName: r.PathValue("c")})
	return fields{"exists": found.GetResult().GetExists()}, err
}

func (f front) create(r *http.Request) (any, error) {
	var body struct {
		Vectors struct {
			Size     uint64 `json:"size"`
			Distance string `json:"distance"`
		} `json:"vectors"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	_, err := f.collections.Create(r.Context(), &qd.CreateCollection{CollectionName: r.PathValue("c"), VectorsConfig: qd.NewVectorsConfig(
		&qd.VectorParams{Size: body.Vectors.Size, Distance: qd.Distance(qd.Distance_value[body.Vectors.Distance])})})
	return true, err
}

func (f front) remove(r *http.Request) (any, error) {
	done, err := f.collections.Delete(r.Context(), &qd.DeleteCollection{CollectionName: r.PathValue("c")})
	return done.GetResult(), err
}

func (f front) upsert(r *http.Request) (any, error) {
	var body struct {
		Points []struct {
			ID      any       `json:"id"`
			Vector  []float32 `json:"vector"`
			Payload fields    `json:"payload"`
		} `json:"points"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	request := &qd.UpsertPoints{CollectionName: r.PathValue("c")}
	for _, p := range body.Points {
		id, err := pointID(p.ID)
		if err != nil {
			return nil, err
		}
		payload, err := qd.TryValueMap(plain(p.Payload).(fields))
		if err != nil {
			return nil, invalid("payload: %v", err)
		}
		request.Points = append(request.Points, &qd.PointStruct{Id: id, Vectors: qd.NewVectors(p.Vector...), Payload: payload})
	}
	_, err := f.points.Upsert(r.Context(), request)
	return fields{"operation_id": 0, "status": "completed"}, err
}

// plain replaces the numbers of decoded JSON by integers, where they are, and floats.
func plain(value any) any {
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		x, _ := v.Float64() // beyond its range it is infinite
		return x
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case fields:
		for name := range v {
			v[name] = plain(v[name])
		}
	}
	return value
}

func pointID(value any) (*qd.PointId, error) {
	switch v := value.(type) {
	case json.Number:
		var n uint64
		if _, err := fmt.Sscan(v.String(), &n); err != nil {
			return nil, invalid("%s is not a valid point ID", v)
		}
		return qd.NewIDNum(n), nil
	case string:
		return qd.NewIDUUID(v), nil
	}
	return nil, invalid("%v is not a valid point ID", value)
}

// search is the part of a query body that this server knows; what else Qdrant knows is refused.
type search struct {
	Query       json.RawMessage `json:"query"`
	Filter      json.RawMessage `json:"filter"`
	Limit       *uint64         `json:"limit"`
	Offset      *uint64         `json:"offset"`
	Threshold   *float32        `json:"score_threshold"`
	WithPayload any             `json:"with_payload"`
	WithVector  any             `json:"with_vector"`
}

func (f front) query(r *http.Request) (any, error) {
	var one search
	if err := read(r, &one); err != nil {
		return nil, err
	}
	return f.find(r.Context(), r.PathValue("c"), one)
}

func (f front) queryBatch(r *http.Request) (any, error) {
	var body struct {
		Searches []search `json:"searches"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	results := make([]any, len(body.Searches))
	for i, one := range body.Searches {
		var err error
		if results[i], err = f.find(r.Context(), r.PathValue("c"), one); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func (f front) find(ctx context.Context, collection string, s search) (any, error) {
	request := &qd.QueryPoints{
		CollectionName: collection, Limit: s.Limit, Offset: s.Offset, ScoreThreshold: s.Threshold,
		WithPayload: qd.NewWithPayload(s.WithPayload != nil && s.WithPayload != false), WithVectors: qd.NewWithVectors(s.WithVector == true),
	}
	if len(s.Query) > 0 && string(s.Query) != "null" {
		var vector []float32
		if json.Unmarshal(s.Query, &vector) != nil {
			var object struct {
				Nearest []float32 `json:"nearest"`
			}
			if err := json.Unmarshal(s.Query, &object); err != nil || object.Nearest == nil {
				return nil, status.Error(codes.Unimplemented, "internal/qdranttest: no query but of a dense vector")
			}
			vector = object.Nearest
		}
		request.Query = qd.NewQueryDense(vector)
	}
	var err error
	if request.Filter, err = f.filter(s.Filter); err != nil {
		return nil, err
	}
	answer, err := f.points.Query(ctx, request)
	found := []fields{}
	for _, p := range answer.GetResult() {
		found = append(found, render(p.GetId(), p.GetPayload(), p.GetVectors(), fields{"version": 7, "score": p.GetScore()}))
	}
	return fields{"points": found}, err
}

func (f front) filter(text json.RawMessage) (*qd.Filter, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	filter, err := f.parseFilter(string(text))
	if err != nil {
		return nil, invalid("filter: %v", err)
	}
	return filter, nil
}

// render is a point in JSON, over what is given of it.
func render(id *qd.PointId, payload map[string]*qd.Value, vectors *qd.VectorsOutput, over fields) fields {
	over["id"] = any(id.GetNum())
	if uuid := id.GetUuid(); uuid != "" {
		over["id"] = uuid
	}
	if payload != nil {
		values := fields{}
		for name, v := range payload {
			values[name] = jsonValue(v)
		}
		over["payload"] = values
	}
	if v := vectors.GetVector().GetDense(); v != nil {
		over["vector"] = v.GetData()
	}
	return over
}

func jsonValue(value *qd.Value) any {
	switch v := value.GetKind().(type) {
	case *qd.Value_BoolValue:
		return v.BoolValue
	case *qd.Value_IntegerValue:
		return v.IntegerValue
	case *qd.Value_DoubleValue:
		return v.DoubleValue
	case *qd.Value_StringValue:
		return v.StringValue
	case *qd.Value_ListValue:
		list := []any{}
		for _, item := range v.ListValue.GetValues() {
			list = append(list, jsonValue(item))
		}
		return list
	case *qd.Value_StructValue:
		object := fields{}
		for name, field := range v.StructValue.GetFields() {
			object[name] = jsonValue(field)
		}
		return object
	}
	return nil
}

func (f front) scroll(r *http.Request) (any, error) {
	var body struct {
		Filter     json.RawMessage `json:"filter"`
		Limit      *uint32         `json:"limit"`
		WithVector any             `json:"with_vector"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	filter, err := f.filter(body.Filter)
	if err != nil {
		return nil, err
	}
	page, err := f.points.Scroll(r.Context(), &qd.ScrollPoints{
		CollectionName: r.PathValue("c"), Filter: filter, Limit: body.Limit,
		WithPayload: qd.NewWithPayload(true), WithVectors: qd.NewWithVectors(body.WithVector == true),
	})
	found := []fields{}
	for _, p := range page.GetResult() {
		found = append(found, render(p.GetId(), p.GetPayload(), p.GetVectors(), fields{}))
	}
	return fields{"points": found, "next_page_offset": nil}, err
}

func (f front) count(r *http.Request) (any, error) {
	var body struct {
		Filter json.RawMessage `json:"filter"`
	}
	if err := read(r, &body); err != nil {
		return nil, err
	}
	filter, err := f.filter(body.Filter)
	if err != nil {
		return nil, err
	}
	counted, err := f.points.Count(r.Context(), &qd.CountPoints{CollectionName: r.PathValue("c"), Filter: filter})
	return fields{"count": counted.GetResult().GetCount()}, err
}
