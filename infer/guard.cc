#include "guard.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>

// maxMemory bounds what one run of a network may take for its blobs and weights, and what reading its graph may take, in bytes.
static const size_t maxMemory = size_t(1) << 30;

struct ds_net {
  cv::dnn::Net net;
  cv::Mat input, scalar; // scalar is empty where the network has no second input
  cv::String second;
  std::vector<cv::String> names;
  std::vector<cv::Mat> blobs;
  std::vector<std::vector<float>> outputs;
};

namespace {

int ignore(int, const char*, const char*, const char*, int, void*) { return 0; }

// Quiet keeps OpenCV from printing what is reported as an error anyway. Its settings are the process's: one at a time.
class Quiet {
 public:
  Quiet() : lock_(mutex()), level_(cv::utils::logging::getLogLevel()) {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    callback_ = cv::redirectError(ignore, nullptr, &data_);
  }
  ~Quiet() {
    cv::redirectError(callback_, data_);
    cv::utils::logging::setLogLevel(level_);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  std::lock_guard<std::mutex> lock_;
  cv::utils::logging::LogLevel level_;
  cv::ErrorCallback callback_;
  void* data_ = nullptr;
};

thread_local size_t left = SIZE_MAX; // that this thread may still allocate for Mats

// Bounded is OpenCV's own allocator, but that it throws before a thread takes more than is left to it.
class Bounded : public cv::MatAllocator {
 public:
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, size_t* step, cv::AccessFlag access,
                         cv::UMatUsageFlags usage) const override {
    size_t bytes = data ? 0 : CV_ELEM_SIZE(type);
    for (int i = 0; i < dims; i++) {
      if (sizes[i] > 0 && bytes > left / sizes[i]) {
        throw std::runtime_error("reading the graph would take more than 1 GiB of memory: export a smaller one");
      }
      bytes *= sizes[i];
    }
    if (left != SIZE_MAX) left -= bytes;
    return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, access, usage);
  }
  bool allocate(cv::UMatData* data, cv::AccessFlag access, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(data, access, usage);
  }
  void deallocate(cv::UMatData* data) const override { cv::Mat::getStdAllocator()->deallocate(data); }
};

// It is set before there are threads, and never freed.
const bool bounded = (cv::Mat::setDefaultAllocator(new Bounded), true);

// read imports a graph. What nodes make of constants is made at once, and checkMemory would come too late. What is freed meanwhile counts
// as well.
cv::dnn::Net read(const void* onnx, size_t length) {
  struct Limit {
    Limit() { left = maxMemory; }
    ~Limit() { left = SIZE_MAX; }
  } limit;
  return cv::dnn::readNetFromONNX(static_cast<const char*>(onnx), length);
}

std::vector<cv::String> choose(const cv::dnn::Net& net, const std::vector<cv::String>& wanted) {
  const std::vector<cv::String> have = net.getUnconnectedOutLayersNames();
  size_t found = 0;
  for (const auto& name : wanted) found += std::count(have.begin(), have.end(), name);
  if (found == wanted.size()) return wanted;
  if (have.size() == 1 && found == 0) return have;
  std::string text = "found outputs";
  for (const auto& name : have) text += " " + name;
  text += ", expected";
  for (const auto& name : wanted) text += " " + name;
  throw std::runtime_error(text + ", or a single output");
}

// checkMemory asks for the sizes of all blobs before any is made.
void checkMemory(const cv::dnn::Net& net, const std::vector<cv::dnn::MatShape>& inputs) {
  size_t weights = 0, blobs = 0;
  net.getMemoryConsumption(inputs, weights, blobs);
  if (weights > maxMemory || blobs > maxMemory) throw std::runtime_error("a run would take more than 1 GiB of memory");
}

void forward(ds_net* n) {
  n->net.setInput(n->input);
  if (!n->scalar.empty()) n->net.setInput(n->scalar, n->second);
  n->net.forward(n->blobs, n->names);
  if (n->blobs.size() != n->names.size()) throw std::runtime_error("outputs are missing");
  n->outputs.resize(n->names.size());
  for (size_t i = 0; i < n->blobs.size(); i++) {
    const cv::Mat& blob = n->blobs[i];
    if (blob.depth() != CV_32F || !blob.isContinuous()) throw std::runtime_error("output " + n->names[i] + " is not float32");
    const size_t length = blob.total() * blob.channels();
    if (!n->outputs[i].empty() && n->outputs[i].size() != length) throw std::runtime_error("output " + n->names[i] + " changed its size");
    n->outputs[i].assign(blob.ptr<float>(), blob.ptr<float>() + length);
  }
}

// guarded runs f and returns the text of what it threw, or NULL.
template <class F>
char* guarded(F f) {
  try {
    f();
    return nullptr;
  } catch (const cv::Exception& e) {
    return strdup(e.err.c_str());
  } catch (const std::exception& e) {
    return strdup(e.what());
  } catch (...) {
    return strdup("unknown failure");
  }
}

}  // namespace

ds_net* ds_net_open(const void* onnx, size_t length, const int* shape, int rank, const char* scalar,
                    const char* const* outputs, int count, char** error) {
  ds_net* n = new ds_net;
  *error = guarded([&] {
    Quiet quiet;
    n->net = read(onnx, length);
    n->net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    n->net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    n->names = choose(n->net, std::vector<cv::String>(outputs, outputs + count));
    std::vector<cv::dnn::MatShape> shapes(1, cv::dnn::MatShape(shape, shape + rank));
    n->input = cv::Mat::zeros(rank, shape, CV_32F);
    if (scalar) {
      shapes.push_back(cv::dnn::MatShape(2, 1));
      n->scalar = cv::Mat::zeros(1, 1, CV_32F);
      n->second = scalar;
    }
    checkMemory(n->net, shapes);
    forward(n);
  });
  if (*error) {
    delete n;
    return nullptr;
  }
  return n;
}

float* ds_net_input(ds_net* n) { return n->input.ptr<float>(); }

float* ds_net_scalar(ds_net* n) { return n->scalar.empty() ? nullptr : n->scalar.ptr<float>(); }

int ds_net_outputs(ds_net* n) { return static_cast<int>(n->outputs.size()); }

float* ds_net_output(ds_net* n, int i, size_t* length) {
  *length = n->outputs[i].size();
  return n->outputs[i].data();
}

char* ds_net_forward(ds_net* n) {
  return guarded([&] { forward(n); });
}

void ds_threads(int n) { cv::setNumThreads(n); }

void ds_net_close(ds_net* n) { delete n; }
