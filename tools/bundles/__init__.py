"""Packs, signs, enrols and checks bundles on the contributor's own machine."""
