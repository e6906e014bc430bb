// Exists only so that the headers it is compiled with become the precompiled header of all tests.
