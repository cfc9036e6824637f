"""Reading film: pictures, sound, subtitles, shots, speech, slots, and which frames are looked at."""
