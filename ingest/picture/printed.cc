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

// Kept is the first line of many bytes.
struct Kept {
	unsigned long count;
	size_t length;
	bool whole;
	char line[most];

	// add keeps what belongs to the first line. Control characters would reach a terminal.
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

// hear is FFmpeg's callback. It has a line come in pieces, of which those of the first error follow each other but where threads meet.
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
	// OpenCV's own library brings FFmpeg along; its headers need not be here. Where it was built without, there is nothing to keep.
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

#ifdef __GLIBC__ // where stderr can be assigned to

namespace {

thread_local bool listening;
thread_local Kept heard;

// pass keeps what a listening thread prints; all else goes where it would have gone.
ssize_t pass(void *, const char *text, size_t size) {
	if (!listening)
		return write(STDERR_FILENO, text, size);
	heard.count += size;
	heard.add(text, size);
	return (ssize_t)size;
}

// Ear stands before cerr's buffer.
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

// C's stderr is another only while somebody listens: its descriptor is -1, which libraries that ask for it do not expect.
void driftscope_listen(void) {
	std::lock_guard<std::mutex> hold(door);
	if (!ear) {
		cookie_io_functions_t functions = {0, pass, 0, 0};
		ear = fopencookie(0, "w", functions);
		if (!ear)
			return;
		setvbuf(ear, 0, _IONBF, 0);
		std::cerr.rdbuf(new Ear(std::cerr.rdbuf())); // for as long as the process lives
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
