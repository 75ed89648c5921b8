"""Looking into Tenfold: operators' cards, the doctor, the debugging layer, traces."""
