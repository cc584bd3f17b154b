#ifndef _GNU_SOURCE
#define _GNU_SOURCE // fopencookie
#endif
#include "printed.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <iostream>
#include <mutex>
#include <streambuf>

#include <opencv2/core/utils/logger.hpp>

void driftscope_keep_opencv(void) { cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT); }

namespace {

const size_t most = 256; // bytes of a line

// Kept stores the first line of a text.
struct Kept {
	unsigned long count;
	size_t length;
	bool whole;
	char line[most];

	// add appends text up to the end of the first line. It replaces control characters, which could otherwise reach a terminal.
	void add(const char *text, size_t size) {
		for (size_t i = 0; i < size && !whole; i++) {
			if (text[i] == '\n')
				whole = length > 0;
			else if (length < most - 1)
				line[length++] = (unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~' ? ' ' : text[i];
		}
	}

	unsigned long take(char *to, size_t size) {
		unsigned long n = count;
		size_t copied = length < size - 1 ? length : size - 1;
		memcpy(to, line, copied);
		to[copied] = 0;
		count = 0, length = 0, whole = false;
		return n;
	}
};

std::mutex guard; // of said
Kept said;        // by FFmpeg, in any thread
thread_local Kept opening;

// hear is FFmpeg's log callback. FFmpeg passes a line in pieces. The pieces of the first error are consecutive unless several threads report errors at once.
void hear(void *, int level, const char *format, va_list values) {
	const int error = 16; // AV_LOG_ERROR; below are graver ones
	if (level < 0 || (level & 0xff) > error)
		return;
	char text[most];
	int n = vsnprintf(text, sizeof text, format, values);
	if (n <= 0)
		return;
	size_t size = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
	opening.count++;
	opening.add(text, size);
	std::lock_guard<std::mutex> hold(guard);
	said.count++;
	said.add(text, size);
}

} // namespace

void driftscope_keep_ffmpeg(void) {
	typedef void (*callback)(void *, int, const char *, va_list);
	typedef void (*setter)(callback);
	// FFmpeg comes with OpenCV's library, so its headers need not be installed. If OpenCV was built without FFmpeg, there are no errors to store.
	if (setter set = (setter)dlsym(RTLD_DEFAULT, "av_log_set_callback"))
		set(hear);
}

void driftscope_print_lines(void) { setvbuf(stdout, 0, _IOLBF, BUFSIZ); }

unsigned long driftscope_ffmpeg_said(int of_thread, char *line, size_t size) {
	if (of_thread)
		return opening.take(line, size);
	std::lock_guard<std::mutex> hold(guard);
	return said.take(line, size);
}

#ifdef __GLIBC__ // stderr can be assigned there

namespace {

thread_local bool listening;
thread_local Kept heard;

// pass stores the text of a listening thread, and forwards all other text to the original stderr.
ssize_t pass(void *, const char *text, size_t size) {
	if (!listening)
		return write(STDERR_FILENO, text, size);
	heard.count += size;
	heard.add(text, size);
	return (ssize_t)size;
}

// Ear is a stream buffer in front of cerr's own buffer.
class Ear : public std::streambuf {
public:
	explicit Ear(std::streambuf *behind) : behind(behind) {}

protected:
	int overflow(int c) override {
		char letter = (char)c;
		if (c == traits_type::eof())
			return traits_type::not_eof(c);
		return xsputn(&letter, 1) == 1 ? c : traits_type::eof();
	}
	std::streamsize xsputn(const char *text, std::streamsize size) override {
		return listening ? pass(0, text, (size_t)size) : behind->sputn(text, size);
	}
	int sync() override { return listening ? 0 : behind->pubsync(); }

private:
	std::streambuf *behind;
};

std::mutex door; // of the three below
int listeners;
FILE *usual, *ear;

} // namespace

// C's stderr is replaced only while a thread listens, because the replacement has descriptor -1, which some libraries do not expect.
void driftscope_listen(void) {
	std::lock_guard<std::mutex> hold(door);
	if (!ear) {
		cookie_io_functions_t functions = {0, pass, 0, 0};
		ear = fopencookie(0, "w", functions);
		if (!ear)
			return;
		setvbuf(ear, 0, _IONBF, 0);
		std::cerr.rdbuf(new Ear(std::cerr.rdbuf())); // never freed
	}
	if (listeners++ == 0) {
		usual = stderr;
		stderr = ear;
	}
	listening = true;
}

unsigned long driftscope_heard(char *line, size_t size) {
	std::lock_guard<std::mutex> hold(door);
	if (listening && --listeners == 0)
		stderr = usual;
	listening = false;
	return heard.take(line, size);
}

#else

void driftscope_listen(void) {}

unsigned long driftscope_heard(char *line, size_t size) { return *line = 0, 0; }

#endif
