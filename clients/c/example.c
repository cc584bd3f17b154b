/* Publishes a spot that wanders, 50 pictures a second, and prints where it is found:
 *     cc -O2 -o example example.c driftscope.c -lm          (Windows: and -lws2_32)
 *     driftscope run nats:camera.spot --objects             in another terminal
 *     ./example [FRAMES [PORT]]
 */
#include "driftscope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 160, HEIGHT = 128, FPS = 50 };

static uint16_t picture[WIDTH * HEIGHT];

/* A spot with a standard deviation of 1.5 pixels, and noise. */
static void draw(double x, double y)
{
	for (int i = 0; i < WIDTH * HEIGHT; i++) {
		double dx = i % WIDTH - x, dy = i / WIDTH - y;
		picture[i] = (uint16_t)(100 + rand() % 20 + 800 * exp(-(dx * dx + dy * dy) / 4.5));
	}
}

int main(int argc, char **argv)
{
	static char text[1 << 20];
	int frames = argc > 1 ? atoi(argv[1]) : 1000, told = 0, length = 0;
	driftscope *d = driftscope_connect("127.0.0.1", argc > 2 ? argv[2] : "4222");
	int64_t begun = driftscope_now();
	if (!d || driftscope_subscribe(d, "driftscope.local.camera-spot.objects") < 0)
		goto failed;
	for (int k = 0; k < frames; k++) {
		draw(64 + 30 * sin(k / 40.0), 64 + 30 * cos(k / 40.0));
		if (driftscope_frame(d, "camera.spot", picture, WIDTH, HEIGHT, 16, (uint64_t)k, driftscope_now()) < 0)
			goto failed;
		do { /* until it is time for the next picture */
			int64_t left = begun + (int64_t)(k + 1) * 1000000000 / FPS - driftscope_now();
			if ((length = driftscope_next(d, text, sizeof text, left > 0 ? (int)(left / 1000000) : 0)) < 0)
				goto failed;
			if (length > 0 && told++ % FPS == 0)
				puts(text);
		} while (length > 0);
	}
	printf("%d frames published, %d messages came\n", frames, told);
	driftscope_close(d);
	return 0;
failed:
	fprintf(stderr, "%s\n", driftscope_problem(d));
	driftscope_close(d);
	return 1;
}
