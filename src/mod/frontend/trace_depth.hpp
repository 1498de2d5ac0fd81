#pragma once
// Counts the levels of the tracer's own recursion.

namespace kw {

/// Holds one level while it lives.
class TraceDepth {
 public:
  explicit TraceDepth(int& depth) : depth_(depth) { ++depth_; }
  ~TraceDepth() { --depth_; }
  TraceDepth(const TraceDepth&) = delete;
  TraceDepth& operator=(const TraceDepth&) = delete;

 private:
  int& depth_;
};

}  // namespace kw
